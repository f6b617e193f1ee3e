"""The calls that a file's `max` does not count, because the rules about repetition allow them.

A file counts the calls of an agent that stops after three equal steps. `no_progress_stop` allows
one changed try after them, and a profile may set other numbers. Those win: one run must not be
right by one rule and wrong by another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from harness.checks.evidence.tool_steps import changes_at_last
from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.repetition import REPEATS, equal_runs
from harness.core.history.trace import Trace, Turn


def uncounted_runs(trace: Trace) -> Counter[str]:
    """The runs of each tool beyond `REPEATS` equal ones in a row. A series that is longer than the
    rules allow counts whole."""
    most, found = int(_number(trace, "no_progress_stop", "repeats", REPEATS)), Counter[str]()
    for turn in trace.turns.values():
        for name in dict.fromkeys(e.request.name for e in turn.executions):
            done = [e for e in turn.executions if e.request.name == name]
            for at, length in equal_runs([_step(e) for e in done], REPEATS + 1):
                run = done[at : at + length]
                if length <= most + changes_at_last(run):
                    found[name] += length - REPEATS
    return found


def uncounted_attempts(trace: Trace) -> int:
    """The attempts of one request after the first, as many as the profile's `attempts` allows."""
    most = int(_number(trace, "retry_budget", "attempts", 1))
    series = (n for turn in trace.turns.values() for n in _attempts(turn))
    return sum(n - 1 for n in series if 1 < n <= most)


def _number(trace: Trace, check: str, setting: str, default: float) -> float:
    value = trace.profile.checks.get(check, {}).get(setting, default)
    return value if isinstance(value, int | float) else default


def _step(execution: Execution) -> Hashable:
    """A key that is equal for equal failures of a tool, or for equal calls with equal results."""
    return execution.text if execution.failed else execution.triple


def _attempts(turn: Turn) -> Iterator[int]:
    """Yield the number of attempts of each request up to its success."""
    tried: Counter[tuple[object, ...]] = Counter()
    for exchange in turn.exchanges:
        content = _content(exchange)
        tried[content] += 1
        if exchange.succeeded:
            yield tried.pop(content)
    yield from tried.values()


def _content(exchange: Exchange) -> tuple[object, ...]:
    return exchange.purpose, *exchange.content
