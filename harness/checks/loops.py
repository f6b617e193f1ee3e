"""Whether a turn stops when it makes no progress, and only then.

No progress is the same thing again with the same result, K times; polling, whose results change,
is progress. Calls that a model asks for in one message were decided at once: identical ones count
once, unless there are more than K of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import msgspec

from harness.checks import stuck
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import answer_failed, answer_text
from harness.core.history.history import History
from harness.core.history.repetition import (
    CallMade,
    ResultMade,
    same_call_runs,
    same_fail_runs_explicit,
)
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.calls import ToolRequest
from harness.core.values.verdict import Finding

_Made = TypeVar("_Made")


@needs("tool")
def no_progress_stop(history: History, *, repeats: int = 3) -> Iterator[Finding]:
    """After `repeats` equal steps in a turn the next one differs, or the turn ends.

    `same_call`: equal tool, input and result. `same_failure`: one tool, one error, whatever the
    input; but one call that failed so may be changed and tried once. `cycle`: two to four calls, or
    messages of calls, in a circle with equal results. `empty_input`: messages that call a tool
    without what its schema requires, and a further one is run. `refusals`: the agent answers the
    same call itself more than twice as often, and the turn goes on. A kill begins every count anew,
    for what an agent counts is in its memory. Over a recording, in which nobody could stop,
    `same_call` and `same_failure` are the runs of the counts. Source: invariant 11.
    """
    trace = history.trace
    if trace.world == "recording":
        yield from _recorded(history, repeats)
        return
    for turn in _lives(trace):
        yield from stuck.same_calls(turn, repeats)
        yield from stuck.same_failures(turn, repeats)
        yield from stuck.cycles_of_calls(turn, repeats)
        yield from stuck.cycles_of_messages(turn, repeats)
        yield from stuck.empty_inputs(trace, turn, repeats)
        yield from stuck.refusals(trace, turn, repeats)


def _lives(trace: Trace) -> Iterator[Turn]:
    """The turns; of one in which the agent was killed, what each of its lives did."""
    for turn in trace.turns.values():
        if not turn.interrupted_n:
            yield turn
            continue
        for start_n, end_n in pairwise([0, *trace.kills, trace.events[-1].n + 1]):
            yield msgspec.structs.replace(
                turn,
                exchanges=[e for e in turn.exchanges if start_n < e.n < end_n],
                asks=[a for a in turn.asks if start_n < a.exchange.n < end_n],
                executions=[e for e in turn.executions if start_n < e.n < end_n],
            )


def _recorded(history: History, repeats: int) -> Iterator[Finding]:
    """The runs of the counts; what one message asks for again was decided at once, and is one."""
    calls, results = list[_Step[CallMade]](), list[_Step[ResultMade]]()
    message_n, asked = 0, dict[str, tuple[int, str]]()
    for event in history.events:
        if isinstance(event, Answered) and event.seam == "model":
            message_n = event.n
        elif isinstance(event, Called) and isinstance(event.request, ToolRequest):
            asked[event.key] = message_n, event.request.name
            made = CallMade(event.request.name, event.request.input)
            _add(calls, _Step(event.n, message_n, made.identity, made))
        elif isinstance(event, Answered) and event.seam == "tool":
            by, name = asked.get(event.key, (0, ""))
            result = ResultMade(answer_failed(event), answer_text(event), name)
            _add(results, _Step(event.n, by, (result.is_error, result.text), result))
    for run in same_call_runs([step.made for step in calls], repeats):
        text = f"{run.name} is called {run.length} times in a row with the same input"
        events = tuple(step.n for step in calls[run.start : run.start + run.length])
        yield Finding("no_progress_stop.same_call", text, events)
    for run in same_fail_runs_explicit([step.made for step in results], repeats):
        text = f"{run.name or 'a tool'} fails {run.length} times in a row in the same way"
        events = tuple(step.n for step in results[run.start : run.start + run.length])
        yield Finding("no_progress_stop.same_failure", text, events)


class _Step(NamedTuple, Generic[_Made]):
    """A recorded call or result: its event, that of the message that asked for it, what it is, and
    what of that makes two of them equal."""

    n: int
    message_n: int
    identity: Hashable
    made: _Made


def _add(steps: list[_Step[_Made]], step: _Step[_Made]) -> None:
    """Add a step, unless it is the one before once more, in the same message."""
    same = steps and steps[-1][1:3] == step[1:3]
    if not (same and step.message_n):
        steps.append(step)
