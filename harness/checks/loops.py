"""Whether a turn without progress stops: the same call with the same result, K times.

Polling with changing results is progress, and so is polling with a pause. Identical calls of one
message count once, unless they exceed K. A finding names the first events that prove it, so it does
not change as the run continues.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Generic, NamedTuple, TypeVar

import msgspec

from harness.checks.evidence.declarations import asks_results, counted_anew, needs
from harness.checks.evidence.polling import stretches
from harness.checks.evidence.tool_inputs import is_empty
from harness.checks.evidence.tool_steps import PERIODS, changes_at_last, sequence, steps
from harness.core.history.events import Answered, Called
from harness.core.history.exchanges import Ask, Execution, answer_failed, answer_text
from harness.core.history.history import History
from harness.core.history.repetition import (
    CallMade,
    ResultMade,
    cycles,
    equal_runs,
    same_call_runs,
    same_fail_runs_explicit,
    without_marks,
)
from harness.core.history.trace import Trace, Turn
from harness.core.values.calls import ToolRequest
from harness.core.values.messages import canonical
from harness.core.values.verdict import Cause, Finding

_Made = TypeVar("_Made")


@needs("tool", or_calls=True, place=230)
@counted_anew("a kill")
@asks_results("same_failure", "cycle")
def no_progress_stop(
    history: History,
    *,
    repeats: int = 3,
    failures: int = 8,
    pause_s: float = 5.0,
    polls: tuple[str, ...] = (),
) -> Iterator[Finding]:
    """After `repeats` equal steps in a turn, the next step differs or the turn ends.

    `same_call`: equal tool, input and result. `like_call`: the results differ in ids, times or a
    count of the calls only, and repeat twice as often. `same_failure`: one tool and one error, with
    any input; a call that failed this way may be changed and tried once. `failing_call`: one call
    that fails `failures` times in a row, with any errors, runs again. `failing_tool`: the same for
    a tool with any input, after twice as many failures. `cycle`: two to five calls, or messages of
    calls, repeat in order with equal results. `empty_input`: after `repeats` messages that call a
    tool without its required input, another such call runs. `refusals`: the agent itself answers
    the same call more than twice `repeats` times, and the turn continues. Such an answer is a
    refusal, or comes from its own tool with the same result.

    A poller makes progress. After a pause of the agent of `pause_s` seconds or more, calls that
    succeed are counted from the start again. The agent may sleep by its own clock or by a tool.
    `polls` names tools whose successes are never counted; a profile may set it.

    A kill starts every count again, because an agent keeps its counts in memory. In a recording,
    `same_call` and `same_failure` report each whole series of equal steps, and `cycle` reports two
    alternating calls. Calls with a new result each do not count. Source: invariant 11.
    """
    trace = history.trace
    if trace.world == "recording":
        yield from _recorded(history, repeats)
        return
    for turn in _lives(trace):
        progress = _Progress(turn, pause_s, polls)
        yield from _same_calls(turn, repeats, progress)
        yield from _like_calls(turn, 2 * repeats, progress)
        yield from _same_failures(turn, repeats)
        yield from _failures(turn, failures)
        yield from _cycles_of_calls(turn, repeats, progress)
        yield from _cycles_of_messages(turn, repeats, progress)
        yield from _empty_inputs(trace, turn, repeats)
        yield from _refusals(trace, turn, repeats)


def _lives(trace: Trace) -> Iterator[Turn]:
    """Yield the turns; a turn with a kill is split at the kill."""
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
    """Yield the series of equal steps in a recording; equal calls of one message count as one."""
    calls, results = list[_Step[CallMade]](), list[_Step[ResultMade]]()
    message_n, asked = 0, dict[str, tuple[int, str]]()
    called, seen = dict[str, int](), dict[int, tuple[bool, str]]()
    for event in history.events:
        if isinstance(event, Answered) and event.seam == "model":
            message_n = event.n
        elif isinstance(event, Called) and isinstance(event.request, ToolRequest):
            asked[event.key], called[event.key] = (message_n, event.request.name), event.n
            made = CallMade.of(event.request.name, event.request.input)
            _add(calls, _Step(event.n, message_n, made, made))
        elif isinstance(event, Answered) and event.seam == "tool":
            by, name = asked.get(event.key, (0, ""))
            result = ResultMade(answer_failed(event), answer_text(event), name)
            _add(results, _Step(event.n, by, (result.is_error, result.text), result))
            seen[called.get(event.key, 0)] = result.is_error, result.text
    for run in same_call_runs([step.made for step in calls], repeats):
        text = f"{run.name} is called {run.length} times in a row with the same input"
        events = tuple(step.n for step in calls[run.start : run.start + run.length])
        if not _makes_progress([seen.get(n) for n in events]):
            yield Finding("no_progress_stop.same_call", text, events)
    for run in same_fail_runs_explicit([step.made for step in results], repeats):
        failed = results[run.start : run.start + run.length]
        names = " and ".join(dict.fromkeys(step.made.name or "a tool" for step in failed))
        verb = "fails" if len({step.made.name for step in failed}) == 1 else "fail"
        text = f"{names} {verb} {run.length} times in a row in the same way"
        yield Finding("no_progress_stop.same_failure", text, tuple(step.n for step in failed))

    yield from _recorded_cycles(calls, seen, repeats)


def _makes_progress(results: Sequence[tuple[bool, str] | None]) -> bool:
    """Whether each call succeeded with a text that no other had, apart from ids and times. Readers
    of a background command do so."""
    texts = {without_marks(said[1]) for said in results if said is not None and not said[0]}
    return len(texts) == len(results)


def _recorded_cycles(
    calls: list[_Step[CallMade]], seen: Mapping[int, Hashable], repeats: int
) -> Iterator[Finding]:
    """Yield two alternating calls with equal results; `seen` has the result of each call by its
    event."""
    once: dict[Hashable, _Step[CallMade]] = {}
    for step in calls:  # one message may ask for a, b, a, b; without a message each call is its own
        once.setdefault((step.message_n or -step.n, step.identity), step)
    asked = list(once.values())
    keys = [(step.identity, seen.get(step.n, step.n)) for step in asked]
    for at, length in cycles(keys, 2, repeats):
        done = asked[at : at + length]
        names = " and ".join(dict.fromkeys(step.made.name for step in done))
        text = f"{names}: two calls in turn, {length} in a row, with the same inputs and results"
        yield Finding("no_progress_stop.cycle", text, tuple(step.n for step in done))


class _Step(NamedTuple, Generic[_Made]):
    """A recorded call or result: its event, the event of the message that asked for it, its
    content, and the key by which two of them are equal."""

    n: int
    message_n: int
    identity: Hashable
    made: _Made


def _add(steps: list[_Step[_Made]], step: _Step[_Made]) -> None:
    """Add a step, unless it repeats the step before in the same message."""
    same = steps and steps[-1][1:3] == step[1:3]
    if not (same and step.message_n):
        steps.append(step)


_VOLATILE = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+", re.IGNORECASE)
"""The parts that may differ between two reports of one error: numbers, addresses, ids."""


class _Progress:
    """What is progress although calls and results are equal: a pause of the agent, which begins a
    new stretch, and each call of a tool in `polls`."""

    def __init__(self, turn: Turn, pause_s: float, polls: tuple[str, ...]) -> None:
        self._stretch, self._polls = stretches(turn, pause_s), frozenset(polls)
        self._failed = {execution.n for execution in turn.executions if execution.failed}

    def key(self, n: int, name: str, key: Hashable | None) -> Hashable | None:
        """The key of a successful call at event `n` with its progress; that of a failure alone."""
        if key is None or n in self._failed:
            return key
        return key, self._stretch(n), n if name in self._polls else 0


def _same_calls(turn: Turn, repeats: int, progress: _Progress) -> Iterator[Finding]:
    """Equal tool, input and result, once more than `repeats` times."""
    done = sequence(turn, repeats)
    keys = [progress.key(step.n, step.name, step.key) if step.ran else None for step in done]
    for at, _ in equal_runs(keys, repeats + 1):
        text = f"{done[at].name} runs again with the same input and result, {repeats} times"
        events = tuple(step.n for step in done[at : at + repeats + 1])
        yield Finding("no_progress_stop.same_call", text, events)


def _like_calls(turn: Turn, repeats: int, progress: _Progress) -> Iterator[Finding]:
    """Equal tool and input, with results that differ in ids, times or a count of the calls only."""
    done = steps(turn, _like, 0)
    keys = [progress.key(e.n, e.request.name, _like(e)) for e in done]
    for at, length in equal_runs(keys, repeats + 1):
        if len({e.triple for e in done[at : at + length]}) > 1:
            text = f"{done[at].request.name} runs again with the same input, and {repeats} results "
            text += "differ in ids, times or counts only"
            yield Finding("no_progress_stop.like_call", text, _events(done, at, repeats + 1))


def _like(execution: Execution) -> Hashable | None:
    if execution.failed or not execution.text.strip():
        return None
    return *execution.identity, without_marks(execution.text)


def _same_failures(turn: Turn, repeats: int) -> Iterator[Finding]:
    """One tool and one error, once more than `repeats` times.

    The error is the same when its text is; with the same input, also when it differs in numbers and
    ids only. If one call failed `repeats` times, one try with a changed input is allowed.
    """
    seen: set[tuple[int, ...]] = set()
    for key in (_exact_failure, _like_failure):
        done = steps(turn, key, 0)
        for at, length in equal_runs([key(e) for e in done], repeats + 1):
            count = repeats + 1 + changes_at_last(done[at : at + repeats + 1])
            events = _events(done, at, count)
            if length >= count and events not in seen:
                seen.add(events)
                text = f"{done[at].request.name} runs again after it failed {count - 1} times: "
                text += repr(done[at].text[:80])
                yield Finding("no_progress_stop.same_failure", text, events)


def _failures(turn: Turn, failures: int) -> Iterator[Finding]:
    """One call or one tool that fails in a row with different errors, and runs again."""
    done = steps(turn, lambda e: e.identity, 0)
    names = dict.fromkeys(e.request.name for e in done)
    calls = dict.fromkeys(e.identity for e in done)
    of_tools = [("tool", 2 * failures, [e for e in done if e.request.name == n]) for n in names]
    of_calls = [("call", failures, [e for e in done if e.identity == c]) for c in calls]
    for what, most, some in (*of_calls, *of_tools):
        for at, _ in equal_runs([e.failed or None for e in some], most + 1):
            if len({_like_failure(e) for e in some[at : at + most + 1]}) > 1:
                text = f"{some[at].request.name} runs again after it failed {most} times in a row"
                events = _events(some, at, most + 1)
                yield Finding(f"no_progress_stop.failing_{what}", text, events)


def _exact_failure(execution: Execution) -> Hashable | None:
    return (execution.request.name, _failure(execution)) if execution.failed else None


def _like_failure(execution: Execution) -> Hashable | None:
    if not execution.failed:
        return None
    return *execution.identity, _VOLATILE.sub("#", _failure(execution))


def _failure(execution: Execution) -> str:
    """The failure as the caller saw it; "" if the caller did not wait for it."""
    return "" if execution.given_up else f"says: {execution.text}"


def _cycles_of_calls(turn: Turn, repeats: int, progress: _Progress) -> Iterator[Finding]:
    """Two to five calls that repeat in order with equal results, and one call more."""
    done = sequence(turn, repeats)
    keys = [progress.key(step.n, step.name, step.key) for step in done]
    for period in PERIODS:
        for at, length in cycles(keys, period, repeats):
            more = (i for i in range(at + period * repeats, at + length) if done[i].ran)
            if (over := next(more, 0)) > 0:
                names = ", ".join(step.name for step in done[at : at + period])
                text = f"{names} run in a circle with equal results, {repeats} times and on"
                events = tuple(step.n for step in done[at : over + 1])
                yield Finding("no_progress_stop.cycle", text, events)


def _cycles_of_messages(turn: Turn, repeats: int, progress: _Progress) -> Iterator[Finding]:
    """Up to five messages, of more calls than `_cycles_of_calls` sees, and one message more."""
    asked = _by_message(turn.asks)
    done = [_whole(asks) for asks in asked]
    keys = [
        progress.key(asks[0].exchange.n, asks[0].use.name, one)
        for asks, one in zip(asked, done, strict=True)
    ]
    for period in (1, *PERIODS):
        for at, length in cycles(keys, period, repeats):
            calls = sum(map(len, done[at : at + period]))
            if length > period * repeats and all(done[at : at + period]) and calls > PERIODS[-1]:
                text = f"the same {calls} calls run with equal results, {repeats} times and on"
                events = tuple(a[0].exchange.n for a in asked[at : at + period * repeats + 1])
                yield Finding("no_progress_stop.cycle", text, events)


def _by_message(asks: Iterable[Ask]) -> list[list[Ask]]:
    """The calls of each answer; they stand together."""
    return [list(some) for _, some in groupby(asks, lambda ask: ask.exchange.n)]


def _whole(asks: list[Ask]) -> tuple[tuple[str, str, str], ...]:
    """The results of a message's calls, in a fixed order; empty if one call was not run."""
    done = [ask.execution for ask in asks if ask.execution and ask.execution.answered]
    return tuple(sorted(e.triple for e in done)) if len(done) == len(asks) else ()


def _events(done: list[Execution], at: int, count: int) -> tuple[int, ...]:
    return tuple(e.n for e in done[at : at + count])


def _empty_inputs(trace: Trace, turn: Turn, repeats: int) -> Iterator[Finding]:
    """Messages that call a tool without its required input, and after `repeats` of them one more
    run."""
    for streak in _empty_streaks(trace, turn):
        ran = [a.execution for asks in streak[repeats:] for a in asks if a.execution]
        if ran:
            text = f"{ran[0].request.name} runs with an empty input, after {repeats} such messages"
            said = tuple(asks[0].exchange.n for asks in streak[: repeats + 1])
            yield Finding("no_progress_stop.empty_input", text, (*said, ran[0].n))


def _empty_streaks(trace: Trace, turn: Turn) -> Iterator[list[list[Ask]]]:
    """Consecutive answers that call a tool without its required input; each answer counts once."""
    empty = [
        ask
        for ask in turn.asks
        if is_empty(ask.use.input) and trace.schema(ask.exchange, ask.use.name).get("required")
    ]
    asked = {asks[0].exchange.n: asks for asks in _by_message(empty)}
    replied = (asked.get(exchange.n) for exchange in turn.main if exchange.reply is not None)
    for _, streak in groupby(replied, bool):
        if found := [asks for asks in streak if asks]:
            yield found


def _refusals(trace: Trace, turn: Turn, repeats: int) -> Iterator[Finding]:
    """The same calls, answered by the agent itself more than twice `repeats` times."""
    asks = _by_message(turn.asks)
    for at, _ in equal_runs([_refusal(trace, a) for a in asks], 2 * repeats + 1):
        run = asks[at : at + 2 * repeats + 1]
        events, tool = tuple(a[0].exchange.n for a in run), run[0][0].use.name
        text = f"{turn.words}: the call of {tool} is asked for over and over, and the agent "
        text += "or a sub-agent answers it each time"
        yield Finding("no_progress_stop.refusals", text, events, cause=Cause(tool=tool))


def _refusal(trace: Trace, asks: list[Ask]) -> Hashable | None:
    """The calls of a message if the agent itself refused all of them, else None.

    A tool that is unknown to the scenario, or has the name of a scenario tool, may be the agent's
    own. Then its result counts too.
    """
    if not all(ask.refused and not ask.questions for ask in asks):
        return None
    tools = trace.settings.get("tools", {}) if trace.takes_tools else {}
    known = {a.use.name for a in asks if a.use.name in tools and not trace.is_own_tool(a)}
    return tuple(
        (
            a.use.name,
            canonical(a.use.input),
            "" if a.use.name in known or not a.sent else a.sent.text,
        )
        for a in asks
    )
