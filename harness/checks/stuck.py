"""What "no progress" is, turn by turn: the runs that `loops` reports or excuses.

Calls are taken in the order in which they were answered, so that a longer history only ever adds
to the sequence. A finding names the first events that prove it, so that it stays the same as the
run goes on.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from harness.checks.evidence.answers import is_empty
from harness.checks.steps import PERIODS, sequence, steps
from harness.core.history.exchanges import Ask, Execution
from harness.core.history.repetition import cycles, equal_runs
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import canonical
from harness.core.values.verdict import Finding

_VOLATILE = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+", re.IGNORECASE)
"""What differs between two reports of one error: numbers, addresses, ids."""


def same_calls(turn: Turn, repeats: int) -> Iterator[Finding]:
    """Equal tool, input and result, once more than `repeats` times."""
    done = sequence(turn, repeats)
    keys = [step.key if step.ran else None for step in done]
    for at, _ in equal_runs(keys, repeats + 1):
        text = f"{done[at].name} runs again with the same input and result, {repeats} times"
        events = tuple(step.n for step in done[at : at + repeats + 1])
        yield Finding("no_progress_stop.same_call", text, events)


def same_failures(turn: Turn, repeats: int) -> Iterator[Finding]:
    """One tool and one error, once more than `repeats` times.

    The error is the same when its text is; with the same input, also when it differs in numbers
    and ids only. Who changes the input after one call failed `repeats` times differs in what he
    does: that one try is allowed.
    """
    seen: set[tuple[int, ...]] = set()
    for key in (_exact_failure, _like_failure):
        done = steps(turn, key, 0)
        for at, length in equal_runs([key(e) for e in done], repeats + 1):
            count = repeats + 1 + _changes_at_last(done[at : at + repeats + 1])
            events = _events(done, at, count)
            if length >= count and events not in seen:
                seen.add(events)
                text = f"{done[at].request.name} runs again after it failed {count - 1} times: "
                text += repr(done[at].text[:80])
                yield Finding("no_progress_stop.same_failure", text, events)


def _changes_at_last(run: list[Execution]) -> bool:
    """Whether all of a run are one call but for the last, which is another."""
    *former, last = [execution.identity for execution in run]
    return len(set(former)) == 1 and last not in former


def _exact_failure(execution: Execution) -> Hashable | None:
    return (execution.request.name, _failure(execution)) if execution.failed else None


def _like_failure(execution: Execution) -> Hashable | None:
    if not execution.failed:
        return None
    return *execution.identity, _VOLATILE.sub("#", _failure(execution))


def _failure(execution: Execution) -> str:
    """What the caller saw of a failure: nothing of one that it did not wait for."""
    return "" if execution.given_up else f"says: {execution.text}"


def cycles_of_calls(turn: Turn, repeats: int) -> Iterator[Finding]:
    """Two to four calls in a circle with equal results, and one call more."""
    done = sequence(turn, repeats)
    keys = [step.key for step in done]
    for period in PERIODS:
        for at, length in cycles(keys, period, repeats):
            more = (i for i in range(at + period * repeats, at + length) if done[i].ran)
            if (over := next(more, 0)) > 0:
                names = ", ".join(step.name for step in done[at : at + period])
                text = f"{names} run in a circle with equal results, {repeats} times and on"
                events = tuple(step.n for step in done[at : over + 1])
                yield Finding("no_progress_stop.cycle", text, events)


def cycles_of_messages(turn: Turn, repeats: int) -> Iterator[Finding]:
    """Up to four messages, of more calls than `cycles_of_calls` sees, and one message more."""
    asked: dict[int, list[Ask]] = {}
    for ask in turn.asks:
        asked.setdefault(ask.exchange.n, []).append(ask)
    keys = [_whole(asks) for asks in asked.values()]
    for period in (1, *PERIODS):
        for at, length in cycles(keys, period, repeats):
            calls = sum(map(len, keys[at : at + period]))
            if length > period * repeats and all(keys[at : at + period]) and calls > PERIODS[-1]:
                text = f"the same {calls} calls run with equal results, {repeats} times and on"
                events = tuple(list(asked)[at : at + period * repeats + 1])
                yield Finding("no_progress_stop.cycle", text, events)


def _whole(asks: list[Ask]) -> tuple[tuple[str, str, str], ...]:
    """What came of a message's calls, whatever their order; nothing if one was not run."""
    done = [ask.execution for ask in asks if ask.execution and ask.execution.answered]
    return tuple(sorted(e.triple for e in done)) if len(done) == len(asks) else ()


def _events(done: list[Execution], at: int, count: int) -> tuple[int, ...]:
    return tuple(e.n for e in done[at : at + count])


def empty_inputs(trace: Trace, turn: Turn, repeats: int) -> Iterator[Finding]:
    """Messages that call a tool without what it requires, and after `repeats` one more is run."""
    for streak in _empty_streaks(trace, turn):
        ran = [a.execution for asks in streak[repeats:] for a in asks if a.execution]
        if ran:
            text = f"{ran[0].request.name} runs with an empty input, after {repeats} such messages"
            said = tuple(asks[0].exchange.n for asks in streak[: repeats + 1])
            yield Finding("no_progress_stop.empty_input", text, (*said, ran[0].n))


def _empty_streaks(trace: Trace, turn: Turn) -> Iterator[list[list[Ask]]]:
    """Consecutive answers that call a tool without its required input; each answer counts once."""
    asked: dict[int, list[Ask]] = {}
    for ask in turn.asks:
        required = trace.schema(ask.exchange, ask.use.name).get("required")
        if is_empty(ask.use.input) and required:
            asked.setdefault(id(ask.exchange), []).append(ask)
    streak: list[list[Ask]] = []
    for exchange in turn.main:
        if exchange.reply is None:
            continue
        if id(exchange) in asked:
            streak.append(asked[id(exchange)])
        elif streak:
            yield streak
            streak = []
    if streak:
        yield streak


def refusals(trace: Trace, turn: Turn, repeats: int) -> Iterator[Finding]:
    """The same calls, answered by the agent itself more than twice `repeats` times."""
    answers: dict[int, list[Ask]] = {}
    for ask in turn.asks:
        answers.setdefault(id(ask.exchange), []).append(ask)
    asks = list(answers.values())
    for at, _ in equal_runs([_refusal(trace, a) for a in asks], 2 * repeats + 1):
        run = asks[at : at + 2 * repeats + 1]
        text = f"the call of {run[0][0].use.name} is asked for and refused over and over"
        yield Finding("no_progress_stop.refusals", text, tuple(a[0].exchange.n for a in run))


def _refusal(trace: Trace, asks: list[Ask]) -> Hashable | None:
    """What a message asked for when all of it was refused, else None.

    A tool that the scenario does not know may be the agent's own: then its result counts too.
    """
    if not all(ask.refused for ask in asks):
        return None
    known = trace.settings.get("tools", {})
    return tuple(
        (
            a.use.name,
            canonical(a.use.input),
            "" if a.use.name in known or not a.sent else a.sent.text,
        )
        for a in asks
    )
