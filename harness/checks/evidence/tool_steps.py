"""The steps of a turn that the model could learn about.

Calls are in the order of their results, so a longer history only appends. Equal calls of one
message count once. A call that did not run is a step if the agent answered it.

A file's `max` counts the calls of an agent that stops after three equal steps. `no_progress_stop`
allows one changed try after them, and a profile may set other numbers. Those win: one run must not
be right by one rule and wrong by another. So some steps are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple

from harness.core.history.exchanges import Execution
from harness.core.history.repetition import REPEATS, equal_runs
from harness.core.history.trace import Trace, Turn
from harness.core.scenario.scenario import Bounds
from harness.core.values.messages import canonical

_AGAIN = ("again",)
"""The key of a call; calls of one message with equal keys count once."""


class Step(NamedTuple):
    """A call with its result, known from event `at_n` on. `n` is the event of the call; `ran` says
    whether it ran across the tool seam."""

    at_n: int
    n: int
    name: str
    key: Hashable
    ran: bool = True


def sequence(turn: Turn, repeats: int) -> list[Step]:
    """Return the turn's steps in the order in which their results arrived.

    A call that ran before and is refused now is not a step, because the refusal is how an agent
    stops it.
    """
    first_n: dict[tuple[str, str], int] = {}
    for execution in turn.executions:
        first_n.setdefault(execution.identity, execution.n)
    own = [
        Step(ask.sent_n, ask.exchange.n, ask.use.name, call, ran=False)
        for ask in turn.asks
        if ask.refused
        and (call := (ask.use.name, canonical(ask.use.input)))
        and first_n.get(call, ask.sent_n) >= ask.sent_n
    ]
    ran = _ran(turn, repeats)
    return sorted([*ran, *own, *_told_otherwise(turn)], key=lambda step: step.at_n)


def _ran(turn: Turn, repeats: int) -> Iterator[Step]:
    """Yield the calls that ran. A call that counts once with others of its message keeps its place
    between its neighbours."""
    kept = {id(execution) for execution in steps(turn, lambda e: e.triple, repeats)}
    last: Hashable = None
    for execution in _answered(turn):
        key: Hashable = execution.triple if id(execution) in kept else _AGAIN
        is_between = key is _AGAIN and last not in (_AGAIN, execution.triple)
        if (key is not _AGAIN or is_between) and execution.answered:
            last, name = key, execution.request.name
            yield Step(execution.answered.n, execution.n, name, key, key is not _AGAIN)


def _told_otherwise(turn: Turn) -> Iterator[Step]:
    """Yield the steps whose result was reported differently than the tool gave it, for example as
    an error because it was late."""
    last: dict[Hashable, bool] = {}
    for execution in turn.executions:
        sent = execution.ask.sent if execution.ask else None
        if sent is not None and execution.ask:
            if sent.is_error != last.get(execution.triple, sent.is_error):
                name = execution.request.name
                yield Step(execution.ask.sent_n, execution.n, name, ("told", name), ran=False)
            last[execution.triple] = sent.is_error


def steps(turn: Turn, key: Callable[[Execution], Hashable | None], most: int) -> list[Execution]:
    """Return the turn's answered executions; up to `most` equal ones of one message count as one.

    With `most` 0, all equal ones of a message count as one.
    """
    done = _answered(turn)
    batches = [(id(e.ask.exchange) if e.ask else id(e), key(e)) for e in done]
    counts, seen, kept = Counter(batches), set[tuple[int, Hashable]](), list[Execution]()
    for execution, batch in zip(done, batches, strict=True):
        if batch[1] is None or batch not in seen or 0 < most < counts[batch]:
            kept.append(execution)
        seen.add(batch)
    return kept


def changes_at_last(run: list[Execution]) -> bool:
    """Whether all steps of a series are one call, except the last, which is another call."""
    *former, last = [execution.identity for execution in run]
    return len(set(former)) == 1 and last not in former


def _answered(turn: Turn) -> list[Execution]:
    """The turn's executions that were answered, in the order of the answers."""
    done = [execution for execution in turn.executions if execution.answered]
    return sorted(done, key=lambda e: e.answered.n if e.answered else 0)


PERIODS = (2, 3, 4, 5)
"""The lengths of a cycle, in calls or in messages with calls."""


def uncounted_runs(trace: Trace) -> Counter[str]:
    """The runs of each tool beyond `REPEATS` equal ones in a row. A series that is longer than the
    rules allow counts whole."""
    most, found = _repeats(trace), Counter[str]()
    for turn in trace.turns.values():
        for name in dict.fromkeys(e.request.name for e in turn.executions):
            done = [e for e in turn.executions if e.request.name == name]
            for at, length in equal_runs([_like_step(e) for e in done], REPEATS + 1):
                run = done[at : at + length]
                if length <= most + changes_at_last(run):
                    found[name] += length - REPEATS
    return found


def more_rounds(trace: Trace, most: int) -> int:
    """How many calls the profile's number of equal steps allows beyond `most`.

    A scenario counts for agents that stop after `REPEATS` rounds, of one call or of several.
    """
    return most * _repeats(trace) // REPEATS - most if _repeats(trace) > REPEATS else 0


def _repeats(trace: Trace) -> int:
    return int(_number(trace, "no_progress_stop", "repeats", REPEATS))


def uncounted_attempts(trace: Trace) -> int:
    """The attempts of one request after the first, as many as the profile's `attempts` allows."""
    most = int(_number(trace, "retry_budget", "attempts", 1))
    series = (n for turn in trace.turns.values() for n in _attempts(turn))
    return sum(n - 1 for n in series if 1 < n <= most)


def _number(trace: Trace, check: str, setting: str, default: float) -> float:
    value = trace.profile.checks.get(check, {}).get(setting, default)
    return value if isinstance(value, int | float) else default


def _like_step(execution: Execution) -> Hashable:
    """A key that is equal for equal failures of a tool, or for equal calls with equal results."""
    return execution.text if execution.failed else execution.triple


def _attempts(turn: Turn) -> Iterator[int]:
    """Yield the number of attempts of each request up to its success."""
    tried: Counter[tuple[object, ...]] = Counter()
    for exchange in turn.exchanges:
        content = exchange.purpose, *exchange.content
        tried[content] += 1
        if exchange.succeeded:
            yield tried.pop(content)
    yield from tried.values()


def counted(trace: Trace, bounds: Mapping[str, Bounds]) -> Iterator[tuple[str, Bounds]]:
    """Yield the tools whose runs can be counted. Any safe tool of the agent may stand for another
    one of the scenario, and runs unseen."""
    is_bound = bool(trace.profile.safe_tools) and not trace.takes_tools
    for name, each in bounds.items():
        if not is_bound or name in trace.profile.tool_names:
            yield name, each


def runs_of(trace: Trace, name: str) -> list[int]:
    """The numbers of the events at which a tool ran.

    A tool of the agent that the profile binds runs unseen: each result in a request is a run.
    """
    seen = [e.n for e in trace.executions if e.request.name == name]
    if seen or name not in trace.profile.tool_names:
        return seen
    own = trace.profile.agent_name(name)
    replies = (exchange.reply for exchange in trace.exchanges if exchange.reply)
    asked = {use.id for reply in replies for use in reply.tool_uses if use.name == own}
    return [
        exchange.n
        for exchange in trace.exchanges
        for node in exchange.added
        for result in node.message.tool_results
        if result.id in asked
    ]


def is_counted_otherwise(trace: Trace) -> bool:
    """Whether the agent's policy made other turns than one for each message.

    What an author expects of those turns is not asked: calls, replies, the outcome.
    """
    return any(
        turn.joined or (turn.came and trace.profile.inbound_policy(turn.session) == "interrupt")
        for turn in trace.turns.values()
    )
