"""Whether a run came out as its scenario expects: outcome, calls and their inputs, waits.

A wait is what an agent adds by itself: the time from a failed answer of the model to the next
request of that session, less the waits that the answer's own plan held. Waits of 0 ms are none.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.declarations import OVERLAY_COUNTS, needs, set_aside_by_overlay
from harness.checks.evidence.outcomes import expected, outcome
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.scenario.scenario import Bounds, Expect, MustNot, Waits
from harness.core.values.messages import Json, canonical
from harness.core.values.plans import waited_ms
from harness.core.values.verdict import Finding


@needs(told_by="run")
@set_aside_by_overlay(
    outcome="an overlay changes how a run may end",
    calls=OVERLAY_COUNTS,
    inputs="an overlay changes which calls the scenario's own faults meet",
    waits="an overlay changes how often an agent waits",
)
def expect(history: History) -> Iterator[Finding]:
    """The run is what its scenario expects: `outcome`, number and `inputs` of `calls`, `waits`,
    and nothing that it forbids (`must_not`)."""
    expectation = expected(history)
    yield from _outcome(history, expectation)
    yield from _calls(history, expectation)
    yield from _inputs(history, expectation)
    yield from _waits(history, expectation.waits_s)
    yield from _forbidden(history, expectation.must_not)


def _outcome(history: History, expectation: Expect) -> Iterator[Finding]:
    found = outcome(history)
    if expectation.outcome is not None and found != expectation.outcome:
        events = tuple(s.n for s in history.trace.sendings if s.ends_turn)[-1:]
        text = f"the outcome is {found}, expected {expectation.outcome}"
        yield Finding("expect.outcome", text, events or _end(history))


def _calls(history: History, expectation: Expect) -> Iterator[Finding]:
    trace, calls = history.trace, expectation.calls
    if calls.model is not None:
        numbers = [e.n for e in trace.exchanges]
        yield from _bounds("the model", numbers, calls.model, _end(history))
    for name, bounds in calls.tool.items():
        numbers = [e.n for e in trace.executions if e.request.name == name]
        yield from _bounds(f"the tool {name}", numbers, bounds, _end(history))


def _inputs(history: History, expectation: Expect) -> Iterator[Finding]:
    for execution in history.trace.executions:
        name, found = execution.request.name, execution.request.input
        wanted = expectation.inputs.get(name, found)
        if canonical(found) != canonical(wanted):
            text = f"the tool {name} is called with another input than expected"
            yield Finding("expect.inputs", f"{text}{_differences(found, wanted)}", (execution.n,))


def _forbidden(history: History, must_not: MustNot) -> Iterator[Finding]:
    """Tools that are called, and words that are said at a turn's end, against `must_not`."""
    for execution in history.trace.executions:
        if (name := execution.request.name) in must_not.call:
            text = f"the tool {name} is called, which a correct agent never does here"
            yield Finding("expect.must_not", text, (execution.n,))
    for sending in history.trace.sendings:
        said = sending.request.text.casefold() if sending.ends_turn else ""
        for words in must_not.say:
            if words.casefold() in said:
                text = f"the user is told {words!r}, which is not true here"
                yield Finding("expect.must_not", text, (sending.n,))


def _differences(found: Json, wanted: Json) -> str:
    """The keys of two objects that differ; nothing for other values."""
    if not isinstance(found, dict) or not isinstance(wanted, dict):
        return ""
    keys = sorted(found.keys() | wanted.keys())
    return ": " + ", ".join(k for k in keys if _entry(found, k) != _entry(wanted, k))


def _entry(value: dict[str, Json], key: str) -> str:
    return canonical({key: value[key]}) if key in value else ""


def _bounds(
    what: str, numbers: list[int], bounds: Bounds, end: tuple[int, ...]
) -> Iterator[Finding]:
    count, most = len(numbers), bounds.max
    if most is not None and count > most:
        text = f"{what} is called {count} times, expected at most {most}"
        yield Finding("expect.calls", text, (numbers[most],))
    elif count < bounds.min:
        text = f"{what} is called {count} times, expected at least {bounds.min}"
        yield Finding("expect.calls", text, end)


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
        text = f"the waits are {_seconds(gap for gap, _ in found)}, "
        text += f"expected {_seconds(waits.schedule)}"
        yield Finding("expect.waits", text, tuple(n for _, n in found) or _end(history))


def _seconds(values: Iterator[float] | tuple[float, ...]) -> str:
    return ", ".join(f"{value:g} s" for value in values) or "none"


def waits_after_failures(trace: Trace) -> list[tuple[float, int]]:
    """Each wait in seconds, with the event of the request that ends it."""
    waits: list[tuple[float, int]] = []
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        before = last.get(exchange.called.session)
        if before is not None and before.answered is not None and not before.succeeded:
            gap_ms = exchange.called.at_ms - before.answered.at_ms - _planned_ms(before)
            if gap_ms > 0:
                waits.append((gap_ms / 1000, exchange.n))
        last[exchange.called.session] = exchange
    return waits


def _planned_ms(exchange: Exchange) -> int:
    """The waits that the answer's plan held."""
    return waited_ms(exchange.answered.steps) if exchange.answered else 0
