"""Retries: which requests are repeated, how often and how soon, over all layers that retry.

SDK, agent and job retry independently, so the checks count the requests that the provider sees.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Annotated

import msgspec

from harness.checks.evidence.declarations import counted_anew, needs
from harness.checks.evidence.excuses import may_begin_again
from harness.checks.evidence.refused_contents import is_sent_again, refused_content
from harness.checks.evidence.turn_outcomes import (
    asked_ms,
    fails_for_good,
    failure_words,
    in_vain,
    is_our_own,
)
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Turn
from harness.core.values.plans import Sent
from harness.core.values.verdict import Cause, Finding
from harness.core.values.visible_text import duration

_TOLERANCE_MS = 10


@needs("model", told_by="run", place=210)
def retry_budget(history: History, *, attempts: int = 6, turn: int = 12) -> Iterator[Finding]:
    """One request is tried at most `attempts` times, and a turn has at most `turn` failures.

    `request`: any layer (the SDK, the agent, the runner of the agent) sends the same request more
    than `attempts` times in a turn without a success. `turn`: more than `turn` attempts of a turn
    fail, for any requests. Only for the turn does the count go on after a restart.

    Not a finding: asking the same again after a success; a redirect that the HTTP client follows;
    failures that are spread over turns.

    Three layers with three attempts each send twenty-seven requests to a provider that is under
    load. To fix it, let only one layer retry, and set a budget for the turn. Source: invariant 14;
    BerriAI/litellm#2620.
    """
    has_turns = "inbox" in history.trace.seams
    for one in history.trace.turns.values():
        yield from _of_a_request(one, attempts, history.trace.kills)
        if has_turns:
            yield from _of_a_turn(one, turn)


def _of_a_request(turn: Turn, most: int, kills: Sequence[int]) -> Iterator[Finding]:
    tried: dict[tuple[object, ...], list[int]] = {}
    for exchange in _asked(turn):
        # The layer that counts tries, such as the SDK, lives in the process.
        content = (bisect(kills, exchange.n), exchange.purpose, *exchange.content)
        events = tried.setdefault(content, [])
        events.append(exchange.n)
        if exchange.succeeded:
            del tried[content]
        elif len(events) == most + 1:
            text = f"{exchange.called.key} is attempt {most + 1} of one request; {most} are allowed"
            yield Finding("retry_budget.request", text, tuple(events))


def _of_a_turn(turn: Turn, most: int) -> Iterator[Finding]:
    asked = [*_asked(turn)]
    # An answer that broke off behind its end is whole: it failed if the agent asks for it again.
    failed = [
        each.n
        for each, later in zip_longest(asked, asked[1:])
        if each.answered is not None and not each.succeeded
        if not each.answered.said_all or (later and later.content == each.content)
    ]
    if len(failed) > most:
        text = f"more than {most} attempts of {turn.words} failed"
        yield Finding("retry_budget.turn", text, tuple(failed[: most + 1]))


def _asked(turn: Turn) -> Iterator[Exchange]:
    """The exchanges with the provider, without the harness's own answers at a limit or a script's
    end."""
    for exchange in turn.exchanges:
        ours = exchange.answered is not None and is_our_own(exchange.answered)
        if not ours and not 300 <= (exchange.status or 0) < 400:
            yield exchange


class _Gap(msgspec.Struct, frozen=True):
    """A failed attempt, the next one, and the wait between them in milliseconds.

    `asked_ms` is the wait that the answer asked for; 0 if it gave no number of seconds.
    """

    failed: Exchange
    again: Exchange
    waited_ms: int
    asked_ms: float

    @property
    def events(self) -> tuple[int, int]:
        """The events of both calls."""
        return self.failed.n, self.again.n

    @property
    def is_asked_for(self) -> bool:
        """Whether the answer named a wait, if only 0 s."""
        return bool(self.said)

    @property
    def said(self) -> str:
        """The header, as the answer has it."""
        return self.failed.answered.retry_after if self.failed.answered else ""

    @property
    def is_free(self) -> bool:
        """Whether the answer said that the request may come at once (RFC 9110, 10.2.3)."""
        return self.is_asked_for and not self.said.strip("-0.")

    @property
    def names(self) -> str:
        """The next attempt and the failed one, in words."""
        return f"{self.again.called.key} follows {self.failed.called.key}"


@needs("model", told_by="run", place=220)
@counted_anew("a start of the agent")
def backoff(
    history: History,
    *,
    least_ms: int = 100,
    cap_s: float = 120,
    ceiling_s: float = 8,
    flat_gaps: Annotated[int, msgspec.Meta(ge=1)] = 4,
) -> Iterator[Finding]:
    """The agent waits before each retry, and waits longer each time.

    The check applies to a request that is repeated after a temporary status (408, 409, 429, 5xx),
    or after no answer. `too_soon`: it is repeated within `least_ms`, unless the answer allowed it.
    `before_retry_after`: it is repeated sooner than the answer asked for, if that wait is at most
    `cap_s`. `above_cap`: it is repeated although the answer asked for more than `cap_s`; the user
    should be told instead. `misread`: milliseconds are waited for as seconds. `flat`: of
    `flat_gaps` waits in a row, none is longer than the first, apart from jitter. Waits that the
    answer asked for, and waits of `ceiling_s` and more, need not grow.

    Not a finding: a stream that broke off, which is not a sign of load; an error answer that the
    network cut off; a `retry-after` that is a date or malformed.

    To fix it, double the waits with jitter, obey `retry-after`, and give up if it is too long.
    Source: invariant 15; cline/cline#713.
    """
    starts = [start.n for start in history.trace.starts]
    for turn in history.trace.turns.values():
        for gaps in _chains(turn, starts):
            for gap in gaps:
                yield from _judged(gap, least_ms, cap_s)
            yield from _flat(gaps, ceiling_s * 1000, flat_gaps)


def _chains(turn: Turn, starts: list[int]) -> list[list[_Gap]]:
    """The gaps between the attempts of each request, up to its success or its end. A restarted
    agent does not know the failure before its kill, so a restart ends a chain."""
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
    """Whether the failure is temporary: by its status, or because no part of an answer arrived."""
    if exchange.status is None:
        steps = exchange.answered.steps if exchange.answered else ()
        return exchange.transient and not any(isinstance(step, Sent) for step in steps)
    return exchange.transient and exchange.status >= 400 and not exchange.is_unreadable


def _gap(failed: Exchange, again: Exchange) -> _Gap:
    """The gap from the end of the failure, or from its beginning if the agent did not wait for
    it."""
    now_ms = again.called.at_ms
    since_ms = failed.ended_ms if failed.ended_ms <= now_ms else failed.called.at_ms
    said = failed.answered.retry_after if failed.answered else ""
    return _Gap(failed, again, now_ms - since_ms, asked_ms(said))


def _judged(gap: _Gap, least_ms: int, cap_s: float) -> Iterator[Finding]:
    waited = f"{gap.names} after {duration(gap.waited_ms / 1000)}"
    asked = f", and {duration(gap.asked_ms / 1000)} were asked for"
    if gap.asked_ms > cap_s * 1000:
        text = f"{waited}{asked}, which is too long to wait"
        yield Finding("backoff.above_cap", text, gap.events)
    elif gap.waited_ms + _TOLERANCE_MS < gap.asked_ms:
        yield Finding("backoff.before_retry_after", f"{waited}{asked}", gap.events)
    elif _is_misread(gap):
        text = f"{waited}: {gap.asked_ms:g} ms were asked for, and are read as seconds"
        yield Finding("backoff.misread", text, gap.events)
    elif gap.waited_ms < (min(least_ms, int(gap.asked_ms)) or least_ms) and not gap.is_free:
        text = f"{waited}, less than {duration(least_ms / 1000)}"
        yield Finding("backoff.too_soon", text, gap.events)


def _is_misread(gap: _Gap) -> bool:
    """Whether a wait has as many seconds as milliseconds were asked for, and no round number."""
    is_alike = 1000 * gap.asked_ms <= gap.waited_ms <= 1020 * gap.asked_ms
    return gap.said.endswith("ms") and gap.asked_ms % 5 > 0 and is_alike


def _flat(gaps: list[_Gap], ceiling_ms: float, most: int) -> Iterator[Finding]:
    """Yield a finding for the first `most` waits that do not grow."""
    for end in range(most, len(gaps) + 1):
        row = gaps[end - most : end]
        is_free = not any(gap.is_asked_for or gap.waited_ms >= ceiling_ms for gap in row)
        if is_free and max(gap.waited_ms for gap in row) <= row[0].waited_ms * _GROWTH:
            waits = ", ".join(duration(gap.waited_ms / 1000) for gap in row)
            text = f"{row[-1].again.called.key}: the waits do not grow: {waits}"
            yield Finding("backoff.flat", text, (row[0].failed.n, *(g.again.n for g in row)))
            return


_GROWTH = 1.25
"""The factor by which a wait must exceed another to be longer despite jitter."""


@needs("model", told_by="run", place=170)
@counted_anew("a kill")
def no_blind_resend(history: History, *, truncated: int = 1, empty: int = 2) -> Iterator[Finding]:
    """What failed permanently is not sent again: a request in its turn, a content in later turns.

    `same_request`: a request is sent again unchanged in the same turn. Permanent failures are a 4xx
    other than 408, 409 and 429, a refusal, and a full context. After a truncated answer, a request
    may be repeated `truncated` times; after an empty answer, `empty` times. A paused answer is sent
    back, and never asked for again. An unchanged request has the same messages, fields and headers;
    a hint, one beta less or another key is a change. Headers that are new with each attempt do not
    count. `same_content`: the provider refused a request for one content. It is an unreadable
    picture, a blank text, a type of thinking, a list of tools, or the name of a lost answer. A
    later turn sends all of that content again to the same model, and is refused for it again. A
    restart between the two turns does not excuse it, because the agent can store what was refused.

    Not a finding: retries by the SDK, which follow the provider's advice; a step that a kill
    interrupted and the agent repeats; a smaller part of the content; a picture that is new in the
    turn; other tools; the name of another answer; another model or provider.

    Each message of a session cost a refused request, and none got an answer. To fix it, leave out
    what was refused in all later requests, with a note in its place. Source: invariant 13;
    lsdefine/GenericAgent#225; anthropics/claude-code#15478.
    """
    yield from _of_requests(history, {"truncated": truncated, "empty": empty, "paused": 0})
    yield from _of_contents(history)


def _of_requests(history: History, allowed: dict[str, int]) -> Iterator[Finding]:
    """Yield a finding for each request that fails for good and comes again in its turn."""
    for turn in history.trace.turns.values():
        tries = _Tries(allowed)
        for exchange in turn.exchanges:
            earlier, last = tries.failed.get(exchange.whole), tries.last.get(exchange.whole)
            # The excuse ends the count of this request, so no filter can apply it.
            if last is not None and may_begin_again(history.trace, turn, last, exchange):
                tries.forget(exchange)
            elif earlier is not None and not exchange.called.sdk_retry:
                text = f"{exchange.called.key} asks again what {failure_words(earlier)} in "
                text += f"{earlier.called.key}, unchanged"
                how = earlier.stop if earlier.succeeded else earlier.status
                events = (earlier.n, exchange.n)
                cause = Cause(subject=str(how or ""))
                yield Finding("no_blind_resend.same_request", text, events, cause=cause)
            tries.see(exchange)


def _of_contents(history: History) -> Iterator[Finding]:
    """Yield a finding for each content that a later turn of its session sends and pays for again.

    A kill before the end of the turn that was refused may come before anything is stored of it.
    """
    refused: dict[tuple[str, str], Exchange] = {}
    for turn in history.trace.turns.values():
        met = [(content, e) for e in turn.main if (content := refused_content(e))]
        for content, exchange in dict(reversed(met)).items():  # the first of each content
            before = refused.get((turn.session, content))
            if before is not None and is_sent_again(before, exchange, turn):
                text = f"{exchange.called.key} sends {content} again that was refused in "
                text += f"{before.called.key}, and is refused for it in a later turn"
                yield Finding("no_blind_resend.same_content", text, (before.n, exchange.n))
        if not turn.interrupted_n:
            refused |= {(turn.session, content): e for content, e in met}


class _Tries:
    """The requests of a turn that must not be repeated, and the number of fruitless attempts of
    others."""

    def __init__(self, allowed: dict[str, int]) -> None:
        self.failed: dict[tuple[object, ...], Exchange] = {}
        self.last: dict[tuple[object, ...], Exchange] = {}
        self._allowed = allowed
        self._vain: dict[tuple[str, tuple[object, ...]], int] = {}

    def see(self, exchange: Exchange) -> None:
        """Record the result of a request."""
        how = in_vain(exchange)
        self.last[exchange.whole] = exchange
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
        """Allow the request again, like any other."""
        self.failed.pop(exchange.whole, None)
        for how in self._allowed:
            self._vain.pop((how, exchange.whole), None)
