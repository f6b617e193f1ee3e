"""Retries: what is tried again, how often and how soon, over all layers that retry.

SDK, agent and job retry independently, so the checks count the requests that the provider sees.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator

import msgspec

from harness.checks.declarations import counted_anew, needs
from harness.checks.evidence.excuses import may_begin_again
from harness.checks.evidence.turn_outcomes import (
    TRUNCATED_STOPS,
    asked_ms,
    fails_for_good,
    failure_words,
    is_our_own,
)
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Turn
from harness.core.values.messages import Text, Thinking
from harness.core.values.plans import Sent
from harness.core.values.verdict import Finding

_TOLERANCE_MS = 10


@needs("model", told_by="run")
def retry_budget(history: History, *, attempts: int = 6, turn: int = 12) -> Iterator[Finding]:
    """One request is tried at most `attempts` times, and a turn has at most `turn` failures.

    `request`: the same request, asked by any layer (the SDK, the agent, what runs the agent), more
    than `attempts` times in a turn without a success. `turn`: more than `turn` attempts of a turn
    failed, with any requests; a restart does not start a new count.

    Not a finding: asking the same again after a success; a redirect that the HTTP client follows;
    failures that are spread over turns.

    Three layers that try three times each are twenty-seven requests, sent when the provider can
    take them least. An agent mends it by letting one layer retry, and by a budget for the turn.
    Source: invariant 14; BerriAI/litellm#2620.
    """
    has_turns = "inbox" in history.trace.seams
    for one in history.trace.turns.values():
        yield from _of_a_request(one, attempts)
        if has_turns:
            yield from _of_a_turn(one, turn)


def _of_a_request(turn: Turn, most: int) -> Iterator[Finding]:
    tried: dict[tuple[object, ...], list[int]] = {}
    for exchange in _asked(turn):
        content = (exchange.purpose, *exchange.content)
        events = tried.setdefault(content, [])
        events.append(exchange.n)
        if exchange.succeeded:
            del tried[content]
        elif len(events) == most + 1:
            text = f"{exchange.called.key} is attempt {most + 1} of one request; {most} are allowed"
            yield Finding("retry_budget.request", text, tuple(events))


def _of_a_turn(turn: Turn, most: int) -> Iterator[Finding]:
    failed = [e.n for e in _asked(turn) if e.answered is not None and not e.succeeded]
    if len(failed) > most:
        text = f"more than {most} attempts of turn {turn.number} of {turn.session} failed"
        yield Finding("retry_budget.turn", text, tuple(failed[: most + 1]))


def _asked(turn: Turn) -> Iterator[Exchange]:
    """The exchanges with the provider; a limit and a script's end are our own words."""
    for exchange in turn.exchanges:
        ours = exchange.answered is not None and is_our_own(exchange.answered)
        if not ours and not 300 <= (exchange.status or 0) < 400:
            yield exchange


class _Gap(msgspec.Struct, frozen=True):
    """A failed attempt, the next one, and what lies between: all in milliseconds.

    `asked_ms` is what the answer asked to wait, 0 when it said nothing that counts seconds.
    """

    failed: Exchange
    again: Exchange
    waited_ms: int
    asked_ms: float

    @property
    def events(self) -> tuple[int, int]:
        """The calls on both sides."""
        return self.failed.n, self.again.n

    @property
    def names(self) -> str:
        """The next attempt and the failed one, in words."""
        return f"{self.again.called.key} follows {self.failed.called.key}"


@needs("model", told_by="run")
@counted_anew("a start of the agent")
def backoff(
    history: History,
    *,
    least_ms: int = 100,
    cap_s: float = 120,
    ceiling_s: float = 8,
    flat_gaps: int = 4,
) -> Iterator[Finding]:
    """Before what failed is tried again time passes, and more each time.

    Asked of a request that is sent again after a status that may pass (408, 409, 429, 5xx), or
    after no answer at all. `too_soon`: within `least_ms`, unless the answer allowed it.
    `before_retry_after`: sooner than the answer asked for, if that is at most `cap_s`. `above_cap`:
    sent again at all, though the answer asked for more than `cap_s`; then the user is to be told
    instead. `flat`: `flat_gaps` waits in a row of which none is longer than the first, jitter set
    aside. Waits that the answer asked for, and those of `ceiling_s` and more, need not grow.

    Not a finding: a stream that broke off, which says nothing of load; an error that the network
    broke off; a `retry-after` that is a date or malformed.

    Agents that come back together keep a provider down, and one that sleeps a day looks dead. An
    agent mends it by doubling its waits with jitter, by obeying `retry-after`, and by giving up
    where that is too long. Source: invariant 15; cline/cline#713.
    """
    starts = [start.n for start in history.trace.starts]
    for turn in history.trace.turns.values():
        for gaps in _chains(turn, starts):
            for gap in gaps:
                yield from _judged(gap, least_ms, cap_s)
            yield from _flat(gaps, ceiling_s * 1000, flat_gaps)


def _chains(turn: Turn, starts: list[int]) -> list[list[_Gap]]:
    """The gaps between the attempts of each request, up to its success or its end. An agent that
    was killed and starts again knows of no failure, and has waited for its start."""
    done: list[list[_Gap]] = []
    running: dict[tuple[object, ...], tuple[Exchange, list[_Gap]]] = {}
    for exchange in turn.exchanges:
        content = (exchange.purpose, *exchange.content)
        before, gaps = running.pop(content, (None, list[_Gap]()))
        if before is not None and bisect(starts, before.n) != bisect(starts, exchange.n):
            before, gaps = None, []
        if before is not None:
            gaps.append(_gap(before, exchange))
            if len(gaps) == 1:
                done.append(gaps)
        if _asks_for_patience(exchange):
            running[content] = (exchange, gaps)
    return done


def _asks_for_patience(exchange: Exchange) -> bool:
    """Whether it failed for a time: by its status, or before anything of an answer came."""
    if exchange.status is None:
        steps = exchange.answered.steps if exchange.answered else ()
        return exchange.transient and not any(isinstance(step, Sent) for step in steps)
    return exchange.transient and exchange.status >= 400 and not exchange.is_unreadable


def _gap(failed: Exchange, again: Exchange) -> _Gap:
    """The time from the failure's end; from its beginning where the agent did not wait for it."""
    now_ms = again.called.at_ms
    since_ms = failed.ended_ms if failed.ended_ms <= now_ms else failed.called.at_ms
    said = failed.answered.retry_after if failed.answered else ""
    return _Gap(failed, again, now_ms - since_ms, asked_ms(said))


def _judged(gap: _Gap, least_ms: int, cap_s: float) -> Iterator[Finding]:
    asked = f", and {gap.asked_ms:g} ms were asked for"
    if gap.asked_ms > cap_s * 1000:
        text = f"{gap.names} after {gap.waited_ms} ms{asked}, which is too long to wait"
        yield Finding("backoff.above_cap", text, gap.events)
    elif gap.waited_ms + _TOLERANCE_MS < gap.asked_ms:
        text = f"{gap.names} after {gap.waited_ms} ms{asked}"
        yield Finding("backoff.before_retry_after", text, gap.events)
    elif gap.waited_ms < (min(least_ms, int(gap.asked_ms)) or least_ms):
        text = f"{gap.names} after {gap.waited_ms} ms, less than {least_ms} ms"
        yield Finding("backoff.too_soon", text, gap.events)


def _flat(gaps: list[_Gap], ceiling_ms: float, most: int) -> Iterator[Finding]:
    """Waits that do not grow, the first time that there are so many of them."""
    for end in range(most, len(gaps) + 1):
        row = gaps[end - most : end]
        is_free = not any(gap.asked_ms or gap.waited_ms >= ceiling_ms for gap in row)
        if is_free and max(gap.waited_ms for gap in row) <= row[0].waited_ms * _GROWTH:
            waits = ", ".join(str(gap.waited_ms) for gap in row)
            text = f"{row[-1].again.called.key}: the waits do not grow: {waits} ms"
            yield Finding("backoff.flat", text, (row[0].failed.n, *(g.again.n for g in row)))
            return


_GROWTH = 1.25
"""By what factor a wait is longer than another, whatever the jitter."""


@needs("model", told_by="run")
@counted_anew("a kill")
def no_blind_resend(history: History, *, truncated: int = 1, empty: int = 2) -> Iterator[Finding]:
    """What failed for good is not sent again unchanged in the same turn.

    For good: a 4xx other than 408, 409 and 429, a refusal, a full context. A truncated answer may
    be asked for again `truncated` times, one in which nothing is said `empty` times. Unchanged is a
    request with the same messages, fields and headers: a hint, a beta less or another key makes it
    another one. Headers that are new with each try do not count.

    Not a finding: retries by the SDK, which are the provider's wish, and the step that was under
    way when the agent was killed, begun once more. Source: invariant 13; lsdefine/GenericAgent#225.
    """
    for turn in history.trace.turns.values():
        tries = _Tries({"truncated": truncated, "empty": empty})
        for exchange in turn.exchanges:
            earlier = tries.failed.get(exchange.whole)
            # The excuse ends the count of this request, so no filter can apply it.
            if earlier is not None and may_begin_again(history.trace, turn, earlier, exchange):
                tries.forget(exchange)
            elif earlier is not None and not exchange.called.sdk_retry:
                text = f"{exchange.called.key} asks again what {failure_words(earlier)} in "
                text += f"{earlier.called.key}, unchanged"
                yield Finding("no_blind_resend.same_request", text, (earlier.n, exchange.n))
            tries.see(exchange)


class _Tries:
    """The requests of a turn that are not to be made again, and how often others were in vain."""

    def __init__(self, allowed: dict[str, int]) -> None:
        self.failed: dict[tuple[object, ...], Exchange] = {}
        self._allowed = allowed
        self._vain: dict[tuple[str, tuple[object, ...]], int] = {}

    def see(self, exchange: Exchange) -> None:
        """Take in what came of a request."""
        how = _in_vain(exchange)
        if fails_for_good(exchange):
            self.failed[exchange.whole] = exchange
        elif how:
            lane = how, exchange.whole
            self._vain[lane] = self._vain.get(lane, 0) + 1
            if self._vain[lane] > self._allowed[how]:
                self.failed[exchange.whole] = exchange
        elif exchange.succeeded:
            self.forget(exchange)

    def forget(self, exchange: Exchange) -> None:
        """The request may be made like any other."""
        self.failed.pop(exchange.whole, None)
        for how in self._allowed:
            self._vain.pop((how, exchange.whole), None)


def _in_vain(exchange: Exchange) -> str:
    """Whether a whole answer was cut off at its length, or says nothing; "" for any other."""
    if exchange.stop in TRUNCATED_STOPS:
        return "truncated"
    return "empty" if exchange.succeeded and _says_nothing(exchange) else ""


def _says_nothing(exchange: Exchange) -> bool:
    """Whether an answer has neither words nor a call; what is thought is not said."""
    blocks = exchange.reply.blocks if exchange.reply else None
    return blocks is not None and all(
        isinstance(b, Thinking) or (isinstance(b, Text) and not b.text.strip()) for b in blocks
    )
