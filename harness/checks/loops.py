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
from harness.checks.budgets import said_tokens
from harness.checks.repeating import repeats_before
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Ask, Exchange, answer_failed, answer_text
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

MAX_BOUND = 50
"""From so many calls or requests in a turn on, a stop is the bound's, not the breaker's."""

MAX_TOKENS, MAX_LASTING_S = 1_000_000, 14_400
"""A turn that has cost so much, or lasted so long, any agent may end for its budget's sake."""


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


@needs("model", "tool")
def no_false_stop(history: History, *, repeats: int = 3) -> Iterator[Finding]:
    """A turn that makes progress is not stopped: nothing was equal `repeats` times before.

    `refused`: a valid call of a known tool is answered without running it. `withdrawn`: tools are
    no longer offered. `ended`: the turn ends while the model asks for a tool. A limit, a cancel, a
    kill, a failed answer of the model, a write that the store refused, and anything that repeats
    excuse the stop, and so does a turn that has cost a million tokens or lasted four hours, for
    then its budget may be spent. Source: invariant 12.
    """
    trace = history.trace
    if trace.world == "recording":
        return
    for turn in trace.turns.values():
        for rule, n, text in _stops(trace, turn):
            if not _excused(trace, turn, n, repeats):
                yield Finding(f"no_false_stop.{rule}", text, (n,))
                break


def _stops(trace: Trace, turn: Turn) -> list[tuple[str, int, str]]:
    """Where the agent may have stopped the turn, in order: rule, event and text."""
    found = [
        ("refused", a.sent_n, f"the call of {a.use.name} is refused although nothing repeats")
        for a in turn.asks
        if a.refused and _is_valid(trace, a)
    ]
    offered = False
    for exchange in turn.main:
        if offered and not exchange.request.tools_offered:
            text = f"{exchange.called.key} no longer offers tools although nothing repeats"
            found.append(("withdrawn", exchange.n, text))
        offered = exchange.request.tools_offered
    found += [("ended", n, "the turn ends in the middle of a tool call") for n in _endings(turn)]
    return sorted(found, key=lambda stop: stop[1])


def _is_valid(trace: Trace, ask: Ask) -> bool:
    """Whether an agent has no reason to refuse the call: known tool, whole answer, full input, and
    an id that no other call of the answer has."""
    if ask.use.name not in trace.settings.get("tools", {}) or not _is_an_answer(ask.exchange):
        return False
    uses = ask.exchange.reply.tool_uses if ask.exchange.reply else ()
    if sum(use.id == ask.use.id for use in uses) > 1:
        return False
    required = trace.schema(ask.exchange, ask.use.name).get("required") or ()
    given = ask.use.input if isinstance(ask.use.input, dict) else None
    return stuck.calls_tools(ask.exchange) and given is not None and set(required) <= set(given)


def _endings(turn: Turn) -> Iterator[int]:
    """The finals before which the last answer asked for a tool, and no tool had just failed."""
    for ending in turn.endings:
        before = [e for e in turn.main if e.n < ending.n]
        runs = [e for e in turn.executions if e.n < ending.n]
        if before and _could_run(before[-1]) and not (runs and runs[-1].failed):
            yield ending.n


def _could_run(exchange: Exchange) -> bool:
    """Whether a whole answer asks for a tool, with arguments that are an object."""
    uses = exchange.reply.tool_uses if exchange.reply else ()
    asked = _is_an_answer(exchange) and stuck.calls_tools(exchange)
    return asked and any(isinstance(use.input, dict) for use in uses)


def _is_an_answer(exchange: Exchange) -> bool:
    """Whether a model said it: a refusal for size may be dressed as a message, with calls even."""
    return exchange.succeeded and not exchange.too_large


def _is_at_its_bound(turn: Turn, n: int, repeats: int) -> bool:
    """Whether the turn had so many calls, requests or pauses that any agent may end it."""
    stops = [e.answered.stop for e in turn.main if e.answered and e.answered.n < n]
    most = max(len(turn.asks), len(stops) + 1)
    return most >= MAX_BOUND or stops.count("pause_turn") >= repeats or _is_dear(turn, n)


def _is_dear(turn: Turn, n: int) -> bool:
    """Whether the turn has cost or lasted so much before event `n` that its budget may be spent."""
    asked = [e for e in turn.exchanges if e.n < n]
    answers = [e.answered for e in asked if e.answered is not None]
    tokens = sum(e.called.tokens for e in asked) + sum(map(said_tokens, answers))
    lasted_ms = max((e.ended_ms for e in asked), default=0) - min(
        (e.called.at_ms for e in asked), default=0
    )
    return tokens >= MAX_TOKENS or lasted_ms >= MAX_LASTING_S * 1000


def _may_be_unread(exchange: Exchange) -> bool:
    """Whether an answer failed, or may have been more than the agent's SDK could read."""
    return not exchange.succeeded or exchange.is_bent_by("http")


def _excused(trace: Trace, turn: Turn, n: int, repeats: int) -> bool:
    marks = (turn.cancelled_n, turn.interrupted_n, *(a.n for a in turn.limits))
    marks += tuple(turn.unstored.values())
    if any(0 < mark < n for mark in marks) or _is_at_its_bound(turn, n, repeats):
        return True
    if any(e.answered and e.answered.n < n and _may_be_unread(e) for e in turn.exchanges):
        return True
    return repeats_before(trace, turn, n, repeats)
