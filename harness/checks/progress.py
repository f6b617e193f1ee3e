"""Whether a turn gets on: bounded, not sending again what must fail again, compacting to effect."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import groupby, pairwise

from harness.checks.begun import is_killed_between, may_begin_again
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Compaction, Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.messages import Text, Thinking
from harness.core.values.verdict import Finding

_TRUNCATED = frozenset({"max_tokens", "length"})
_FINAL_STOPS = frozenset({"refusal", "content_filter", "model_context_window_exceeded"})


@needs("model", "inbox")
def bounded_turn(history: History, *, max_requests: int = 50) -> Iterator[Finding]:
    """A turn makes at most `max_requests` main requests; the SDK's own retries do not count.

    An agent that is killed may begin the turn once more: each of its lives is counted by itself.
    Source: invariant 10.
    """
    for turn in history.trace.turns.values():
        requests = [e for e in turn.main if not e.called.sdk_retry]
        for life in _lives(history.trace, requests):
            if len(life) > max_requests:
                text = (
                    f"turn {turn.number} of {turn.session} makes more than {max_requests} requests"
                )
                yield Finding("bounded_turn.requests", text, (life[max_requests].n,))


def _lives(trace: Trace, requests: list[Exchange]) -> Iterator[list[Exchange]]:
    """The requests from kill to kill."""
    for _, life in groupby(requests, lambda e: bisect(trace.kills, e.n)):
        yield list(life)


@needs("model")
def no_blind_resend(history: History, *, truncated: int = 1, empty: int = 2) -> Iterator[Finding]:
    """What failed for good is not sent again unchanged in the same turn.

    For good: a 4xx other than 408, 409 and 429, a refusal, a full context. A truncated answer may
    be asked for again `truncated` times, one in which nothing is said `empty` times; a hint in the
    request makes it another one. Not meant: retries by the SDK, which are the provider's wish, and
    the step that was under way when the agent was killed, begun once more. Source: invariant 13;
    lsdefine/GenericAgent#225.
    """
    for turn in history.trace.turns.values():
        tries = _Tries({"truncated": truncated, "empty": empty})
        for exchange in turn.exchanges:
            earlier = tries.failed.get(exchange.content)
            if earlier is not None and may_begin_again(history.trace, turn, earlier, exchange):
                tries.forget(exchange)
            elif earlier is not None and not exchange.called.sdk_retry:
                text = f"{exchange.called.key} asks again what {_how(earlier)} in "
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
        if _fails_for_good(exchange):
            self.failed[exchange.content] = exchange
        elif how:
            lane = how, exchange.content
            self._vain[lane] = self._vain.get(lane, 0) + 1
            if self._vain[lane] > self._allowed[how]:
                self.failed[exchange.content] = exchange
        elif exchange.succeeded:
            self.forget(exchange)

    def forget(self, exchange: Exchange) -> None:
        """The request may be made like any other."""
        self.failed.pop(exchange.content, None)
        for how in self._allowed:
            self._vain.pop((how, exchange.content), None)


def _in_vain(exchange: Exchange) -> str:
    """Whether a whole answer was cut off at its length, or says nothing; "" for any other."""
    if exchange.stop in _TRUNCATED:
        return "truncated"
    return "empty" if exchange.succeeded and _says_nothing(exchange) else ""


def _says_nothing(exchange: Exchange) -> bool:
    """Whether an answer has neither words nor a call; what is thought is not said."""
    blocks = exchange.reply.blocks if exchange.reply else None
    return blocks is not None and all(
        isinstance(b, Thinking) or (isinstance(b, Text) and not b.text.strip()) for b in blocks
    )


def _fails_for_good(exchange: Exchange) -> bool:
    """Whether the answer says so, and its bytes came as the provider meant them: an agent cannot
    know a stop reason that its SDK fails to read, nor a status whose body broke off."""
    if exchange.stop in _FINAL_STOPS:
        return not exchange.is_bent_by("http", "sse", "transport")
    failed = (exchange.status or 0) >= 400 and not exchange.transient
    return failed and not exchange.is_bent_by("transport")


def _how(exchange: Exchange) -> str:
    """A failure in a few words."""
    if exchange.stop in _FINAL_STOPS or exchange.stop in _TRUNCATED:
        return f"stopped with {exchange.stop}"
    if exchange.succeeded:
        return "was answered with nothing, as before,"
    return f"was answered {exchange.status}"


@needs("model")
def compaction_progress(
    history: History, *, ratio: float = 0.8, most: int = 2
) -> Iterator[Finding]:
    """A compaction makes the prompt smaller, or it is not tried again in that turn.

    One fails when its call brings no summary, or when the agent's notice has the status "failed".
    `repeated`: tried again after one that failed, or after which the prompt was still refused.
    `ratio`: tried again although the last one left more than `ratio` of the prompt. `larger`: what
    is sent after one that did not fail is no smaller than what was refused. `unusable`: the next
    request tells the summary although it was cut off or refused. `too_many`: more than `most`
    without a successful main answer between them. Not meant: a compaction that was under way when
    the agent was killed, and begins again. Source: invariant 16.
    """
    trace = history.trace
    in_turns: dict[int, list[Compaction]] = {}
    for compaction in history.trace.compactions:
        if not _is_killed(trace, compaction):
            yield from _larger(compaction)
        yield from _unusable(compaction)
        in_turns.setdefault(id(compaction.turn), []).append(compaction)
    for compactions in in_turns.values():
        for first, second in pairwise(compactions):
            if not is_killed_between(trace, first.n, second.n):
                yield from _again(first, second, ratio)
        whole = [c for c in compactions if not _is_killed(trace, c)]
        yield from _too_many(compactions[0].turn, whole, most)


def _is_killed(trace: Trace, compaction: Compaction) -> bool:
    """Whether the agent was killed before it could go on with what the compaction had left."""
    end_n = compaction.after.n if compaction.after else trace.events[-1].n
    return is_killed_between(trace, compaction.n, end_n)


def _larger(compaction: Compaction) -> Iterator[Finding]:
    """The request after a summary, when it replaces one of the turn that the provider refused."""
    before, after = compaction.before, compaction.gone_on
    if before is None or after is None or compaction.failed or not _fails_for_good(before):
        return
    if before.size and after.size >= before.size:
        text = f"the compaction at event {compaction.n} makes the prompt no smaller: "
        text += f"{before.size} before, {after.size} after"
        yield Finding("compaction_progress.larger", text, (before.n, compaction.n, after.n))


def _unusable(compaction: Compaction) -> Iterator[Finding]:
    """A summary that is not whole, and is used."""
    last, after = compaction.calls[-1] if compaction.calls else None, compaction.after
    if last is None or after is None or last.reply is None:
        return
    said = last.reply.text.strip()
    if said and last.stop in _TRUNCATED | _FINAL_STOPS and _says(after, said):
        text = f"the summary at event {compaction.n} {_how(last)}, and is used"
        yield Finding("compaction_progress.unusable", text, (last.n, after.n))


def _says(exchange: Exchange, text: str) -> bool:
    return any(text in message.text for message in exchange.node.messages)


def _again(first: Compaction, second: Compaction, ratio: float) -> Iterator[Finding]:
    after = first.after
    events = (first.n, *((after.n,) if after else ()), second.n)
    fits = _shrinks(first, ratio)
    if first.failed or (after is not None and not after.succeeded and not after.transient):
        what = "failed" if first.failed else "was not enough"
        text = f"the compaction at event {first.n} {what}, and is tried again in the same turn"
        yield Finding("compaction_progress.repeated", text, events)
    elif not fits:
        text = f"the compaction at event {first.n} leaves more than {ratio:.0%} of the prompt, "
        text += "and is tried again in the same turn"
        yield Finding("compaction_progress.ratio", text, events)


def _shrinks(compaction: Compaction, ratio: float) -> bool:
    """Whether the request after it is small enough; True where sizes are not known."""
    before, after = compaction.before, compaction.after
    if before is None or after is None or not before.size or not after.size:
        return True
    return after.size <= ratio * before.size


def _too_many(turn: Turn, compactions: list[Compaction], most: int) -> Iterator[Finding]:
    successes = [e.n for e in turn.main if e.succeeded]
    streak: list[int] = []
    for compaction in compactions:
        if streak and any(streak[-1] < n < compaction.n for n in successes):
            streak = []
        streak.append(compaction.n)
        if len(streak) == most + 1:
            text = f"more than {most} compactions without a successful answer between them"
            yield Finding("compaction_progress.too_many", text, tuple(streak))
