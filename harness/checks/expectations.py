"""Whether a run ends as its scenario expects.

A wait is time that the agent adds between a failed answer and that session's next request. Waits of
the answer's own plan, and waits of 0 ms, do not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import msgspec

from harness.checks.evidence import tool_steps
from harness.checks.evidence.declarations import OVERLAY_COUNTS, needs, set_aside_by_overlay
from harness.checks.evidence.shown_text import shown
from harness.checks.evidence.tool_inputs import same_input
from harness.checks.evidence.turn_outcomes import (
    expected,
    gave_up,
    met_a_limit,
    outcome,
)
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Bounds, Expect, ExpectReply, MustNot, Waits
from harness.core.values.finding_key import Cause
from harness.core.values.messages import Json, canonical
from harness.core.values.patterns import is_in, pattern_of
from harness.core.values.verdict import Finding
from harness.core.values.visible_text import duration


@needs(told_by="run", place=450)
@set_aside_by_overlay(
    outcome="an overlay changes how a run may end",
    calls=OVERLAY_COUNTS,
    inputs="an overlay changes which calls the scenario's own faults meet",
    waits="an overlay changes how often an agent waits",
    reply="an overlay changes which answers arrive",
)
def expect(history: History) -> Iterator[Finding]:
    """The run matches the expectations of its scenario.

    They are `outcome`, number and `inputs` of `calls`, `waits`, the words of a `reply`, and nothing
    forbidden (`must_not`).
    A `max` does not count what `no_progress_stop` allows after three equal steps, nor what the
    profile's `repeats` and `retry_budget` allow.
    `known_missing`: a known defect no longer appears.
    """
    expectation = expected(history)
    yield from _outcome(history, expectation)
    yield from _calls(history, expectation)
    yield from _inputs(history, expectation)
    yield from _waits(history, expectation.waits_s)
    yield from _forbidden(history, expectation.must_not)
    for reply in expectation.replies:
        yield from _reply(history, reply)


def _outcome(history: History, expectation: Expect) -> Iterator[Finding]:
    found, wanted = outcome(history), expectation.outcome
    words = (wanted,) if isinstance(wanted, str) else wanted
    is_own = found == "limit" and not met_a_limit(history.trace)
    if is_own and "failed_truthfully" in (words or ()):
        return  # the agent has met its own limit, and said so
    is_policy = (found == "failed_truthfully" or is_own) and _gave_up(history.trace)
    if words is not None and found not in words and not is_policy:
        events = tuple(s.n for s in history.trace.sendings if s.ends_turn)[-1:]
        text = f"the outcome is {found}, expected {' or '.join(words)}"
        yield Finding("expect.outcome", text, events or _end(history), cause=Cause(subject=found))


def _calls(history: History, expectation: Expect) -> Iterator[Finding]:
    trace, calls = history.trace, expectation.calls
    more = tool_steps.uncounted_runs(trace) if calls.model or calls.tool else Counter[str]()
    if calls.model is not None:
        bounds = _raised(calls.model, more.total() + tool_steps.uncounted_attempts(trace))
        yield from _bounds("", [e.n for e in trace.exchanges], bounds, _end(history))
    for name, bounds in tool_steps.counted(trace, calls.tool) if calls.tool else ():
        numbers = tool_steps.runs_of(trace, name)
        if _gave_up(trace):  # the calls after that point are not expected
            bounds = msgspec.structs.replace(bounds, min=0)
        bounds = _raised(bounds, max(more[name], tool_steps.more_rounds(trace, bounds.max or 0)))
        seen = {id(e.ask) for e in trace.executions if e.request.name == name}
        yield from _bounds(name, numbers, bounds, _end(history), len(seen))


def _raised(bounds: Bounds, more: int) -> Bounds:
    """The bounds with more calls, which the rules about repetition allow."""
    return bounds if bounds.max is None else msgspec.structs.replace(bounds, max=bounds.max + more)


def _gave_up(trace: Trace) -> bool:
    return any(gave_up(trace, turn) for turn in trace.turns.values())


def _inputs(history: History, expectation: Expect) -> Iterator[Finding]:
    for execution in history.trace.executions:
        name, found = execution.request.name, execution.request.input
        wanted = expectation.inputs.get(name, found)
        schema = history.trace.schema(None, name)
        if canonical(found) != canonical(wanted) and not same_input(wanted, found, schema):
            text = f"the tool {name} is called with another input than expected"
            yield Finding("expect.inputs", f"{text}{_differences(found, wanted)}", (execution.n,))


def _forbidden(history: History, must_not: MustNot) -> Iterator[Finding]:
    """Yield the forbidden tools that are called, and the forbidden words at a turn's end."""
    ran = ((n, name) for name in must_not.call for n in tool_steps.runs_of(history.trace, name))
    for number, name in sorted(ran):
        text = f"the tool {name} is called, which a correct agent never does here"
        yield Finding("expect.must_not", text, (number,))
    for sending in history.trace.sendings:
        said = sending.request.text.casefold() if sending.ends_turn else ""
        for words in must_not.say:
            if words.casefold() in said:
                text = f"the user is told {words!r}, which is not true here"
                cause = Cause(subject=words)
                yield Finding("expect.must_not", text, (sending.n,), cause=cause)


def _reply(history: History, asked: ExpectReply) -> Iterator[Finding]:
    """Yield the words that the user reads, misses or reads twice, in the turns that are asked."""
    read = [
        (text, parts[-1].n)
        for turn in history.trace.turns.values()
        if asked.turn in (None, turn.number) and asked.session in (None, turn.session)
        for text, parts in shown(turn.sendings)
    ]
    place = f"in {named}, " if (named := asked.turns_named) else ""
    events = tuple(n for _, n in read) or _end(history)
    for word, (least, most, told) in _REPLY.items():
        given = getattr(asked, word) or ()
        for words in (given,) if isinstance(given, str) else given:
            times = sum(_times(word, words, text) for text, _ in read)
            if not least <= times <= most and not (least and _gave_up(history.trace)):
                text = f"{place}the user {told.format(words=words, times=times)}"
                cause = Cause(subject=f"reply.{word}: {words}")
                yield Finding("expect.reply", text, events, cause=cause)


_REPLY = {
    "has": (1, math.inf, "does not read {words!r}"),
    "lacks": (0, 0, "reads {words!r}, which is not true here"),
    "once": (1, 1, "reads {words!r} {times} times, expected once"),
    "pattern": (1, math.inf, "reads nothing that matches {words!r}"),
}
"""The least and the greatest number of times, and the words for another number."""


def _times(word: str, words: str, text: str) -> int:
    if word == "pattern":
        return is_in(pattern_of(words), text)
    plain, sought = (" ".join(each.casefold().split()) for each in (text, words))
    return plain.count(sought)


def _differences(found: Json, wanted: Json) -> str:
    """The keys in which two objects differ; "" for other values."""
    if not isinstance(found, dict) or not isinstance(wanted, dict):
        return ""
    keys = sorted(found.keys() | wanted.keys())
    return ": " + ", ".join(k for k in keys if _entry(found, k) != _entry(wanted, k))


def _entry(value: dict[str, Json], key: str) -> str:
    return canonical({key: value[key]}) if key in value else ""


def _bounds(
    tool: str, numbers: list[int], bounds: Bounds, end: tuple[int, ...], asked: int = 0
) -> Iterator[Finding]:
    """Yield the finding for the calls of a tool; of the model for ""."""
    count, most = len(numbers), len(numbers) if bounds.max is None else bounds.max
    if count > most or count < bounds.min:
        bound, n = ("max", most) if count > most else ("min", bounds.min)
        text = f"{f'the tool {tool}' if tool else 'the model'} is called {count} times"
        text += f" ({asked} asked for by the model)" if 0 < asked < count else ""
        text += f", expected at {'most' if bound == 'max' else 'least'} {n}"
        cause = Cause(tool=tool, subject=f"calls.{'tool' if tool else 'model'}.{bound}")
        yield Finding("expect.calls", text, (*numbers[most:][:1],) or end, cause=cause)


def _end(history: History) -> tuple[int, ...]:
    return (history.trace.ended.n,) if history.trace.ended else ()


def _waits(history: History, schedule: tuple[float, ...] | Waits | None) -> Iterator[Finding]:
    if schedule is None:
        return
    waits = schedule if isinstance(schedule, Waits) else Waits(schedule=schedule)
    found = waits_after_failures(history.trace)
    same = len(found) == len(waits.schedule) and all(
        abs(gap_s - planned_s) <= waits.tolerance * planned_s + 0.001
        for (gap_s, _), planned_s in zip(found, waits.schedule, strict=True)
    )
    if not same:
        gaps, wanted = (
            ", ".join(map(duration, each)) or "none"
            for each in ([gap_s for gap_s, _ in found], waits.schedule)
        )
        text = f"the waits are {gaps}, expected {wanted}"
        yield Finding("expect.waits", text, tuple(n for _, n in found) or _end(history))


def waits_after_failures(trace: Trace) -> list[tuple[float, int]]:
    """Each wait in seconds, with the event of the request that ends it."""
    waits: list[tuple[float, int]] = []
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        before = last.get(exchange.called.session)
        if before is not None and before.answered is not None and not before.succeeded:
            gap_ms = exchange.called.at_ms - before.ended_ms
            if gap_ms > 0:
                waits.append((gap_ms / 1000, exchange.n))
        last[exchange.called.session] = exchange
    return waits
