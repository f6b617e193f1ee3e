"""Whether an agent that was killed takes its work up again: once, and without doing it twice.

A turn that kills its agent kills it again when it is resumed. So the number of attempts is bounded,
and what was under way at the kill has an outcome that nobody knows. An attempt is the time between
two kills; a message was worked on in it when the model was asked for it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from harness.core.history.events import Effected
from harness.core.history.exchanges import Execution
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

_TELLS = frozenset({"final", "error", "notice"})


@needs("model", "inbox")
def resume_bounded(history: History, *, resumes: int = 1) -> Iterator[Finding]:
    """After a kill a turn is taken up at most `resumes` times, and none of its calls is repeated.

    `again`: the model is asked for a message in more than `resumes` + 1 attempts. `parked`: a
    message was worked on in `resumes` + 1 attempts, each of which was killed before its end, and
    the agent, started again, ends without a word about it. `executed`: a call that was run before a
    kill, and of which the model has seen no result, is run again after it.
    Not meant: finishing an interrupted turn once; delivering again a reply that was stored; a
    message that was handed out and not begun; a call that the model asks for anew when it knows
    that the outcome of the first is unknown; a repetition whose effect bears the same idempotency
    key. A resumed session ran the command that had restarted its own gateway, and again after each
    start (NousResearch/hermes-agent#49201). An agent mends it by storing that it begins before it
    does, by results that say "outcome unknown" for open calls, and by parking a turn that was
    begun twice. Source: invariant 31.
    """
    trace = history.trace
    kills = trace.kills
    if not kills:
        return
    for message, attempts in _attempts(trace, kills).items():
        begun = list(attempts.values())
        if len(begun) > resumes + 1:
            text = f"the message {message} is worked on for the {_th(resumes + 2)} time, after "
            text += f"{len(begun) - 1} kills"
            yield Finding("resume_bounded.again", text, tuple(begun[: resumes + 2]))
        yield from _parked(trace, message, attempts, kills, resumes)
    yield from _executed(trace, kills)


def _th(number: int) -> str:
    return {2: "2nd", 3: "3rd"}.get(number, f"{number}th")


def _attempts(trace: Trace, kills: list[int]) -> dict[str, dict[int, int]]:
    """By message, the attempts that worked on it, each with its first main request."""
    found: dict[str, dict[int, int]] = {}
    for turn in trace.turns.values():
        if turn.delivery is None:
            continue
        attempts = found.setdefault(turn.delivery.inbound.id, {})
        for exchange in turn.exchanges:
            if exchange.purpose == "main":
                attempts.setdefault(bisect_left(kills, exchange.n), exchange.n)
    return found


def _parked(
    trace: Trace, message: str, attempts: dict[int, int], kills: list[int], resumes: int
) -> Iterator[Finding]:
    """A message that was killed too often, and of which nothing is said."""
    killed = [kills[attempt] for attempt in attempts if attempt < len(kills)]
    if len(killed) <= resumes or trace.ended is None or trace.ended.how != "returned":
        return
    if not any(n > attempts[min(attempts)] for n in _told(trace, message)):
        text = f"the message {message} was interrupted {len(killed)} times, and nothing is said"
        yield Finding("resume_bounded.parked", text, (*killed, trace.ended.n))


def _told(trace: Trace, message: str) -> Iterator[int]:
    """Where the user is told how a message ended."""
    for turn in trace.turns.values():
        own = turn.delivery is not None and turn.delivery.inbound.id == message
        for sending in turn.sendings:
            taken = sending.answered is not None and sending.answered.complete
            about = sending.request.in_reply_to or (own and message)
            if taken and about == message and sending.request.kind in _TELLS:
                yield sending.n


def _executed(trace: Trace, kills: list[int]) -> Iterator[Finding]:
    effects = _keys(trace)
    first: dict[int, Execution] = {}
    for run in trace.executions:
        if run.ask is None:
            continue
        before = first.setdefault(id(run.ask), run)
        place = bisect_left(kills, before.n)
        killed_n = kills[place] if place < len(kills) else run.n
        known = 0 < run.ask.sent_n < killed_n
        if killed_n < run.n and not known and not _same_effect(effects, before, run):
            text = f"{run.called.key}: {run.request.name} ran before the kill with a result that "
            text += "the model has not seen, and is run again"
            yield Finding("resume_bounded.executed", text, (before.n, killed_n, run.n))


def _keys(trace: Trace) -> dict[str, set[str]]:
    """The idempotency keys of the effects, by the call that had them."""
    found: dict[str, set[str]] = {}
    for event in trace.events:
        if isinstance(event, Effected):
            found.setdefault(event.key, set()).add(event.idempotency_key)
    return found


def _same_effect(effects: dict[str, set[str]], first: Execution, again: Execution) -> bool:
    """Whether one idempotency key makes the effects of two runs one."""
    one, two = effects.get(first.called.key, set()), effects.get(again.called.key, set())
    return bool(one) and "" not in one and one == two
