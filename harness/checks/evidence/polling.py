"""The pauses of an agent that waits for something, by which a poller differs from a loop.

A poller asks the same and is answered the same ("pending") until there is an end. What tells it
from a loop is time: it sleeps between two calls, by its own clock or by a tool. A slow model, a
slow tool and the wait before a retry are no such pauses, because a loop has them too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import attrgetter

from harness.core.history.exchanges import Exchange, Execution
from harness.core.history.trace import Turn
from harness.core.values.messages import Json
from harness.core.values.plans import waited_ms

_UNITS_MS = (1, 1_000, 60_000)
"""What a number in the input of a tool that sleeps may count: milliseconds, seconds, minutes."""


def stretches(turn: Turn, pause_s: float) -> Callable[[int], int]:
    """The stretch of an event by its number; each pause of the agent begins a new one."""
    found = list(_after_pauses(turn, pause_s * 1000))
    return lambda n: bisect_right(found, n)


def polls(turn: Turn, pause_s: float) -> set[int]:
    """The events of the requests whose answer asks again, after a pause, for a call that succeeded
    with the same result."""
    stretch = stretches(turn, pause_s)
    done = [e for e in turn.executions if e.answered is not None]
    return {
        later.ask.exchange.n
        for before, later in pairwise(done)
        if later.ask is not None and before.triple == later.triple and not later.failed
        if stretch(before.n) != stretch(later.n)
    }


def _after_pauses(turn: Turn, pause_ms: float) -> Iterator[int]:
    """Yield the first event after each pause."""
    done: list[Exchange | Execution] = [*turn.exchanges, *turn.executions]
    over_ms = 0
    for before, later in pairwise(sorted(done, key=attrgetter("n"))):
        over_ms = max(over_ms, _ended_ms(before))
        slept_ms = later.called.at_ms - over_ms if _is_good(before) else 0
        if slept_ms >= pause_ms or (isinstance(before, Execution) and _sleeps(before, pause_ms)):
            yield later.n


def _ended_ms(call: Exchange | Execution) -> int:
    answered = call.answered
    return answered.at_ms + waited_ms(answered.steps) if answered else call.called.at_ms


def _is_good(call: Exchange | Execution) -> bool:
    """Whether nothing failed; after a failure, a wait is a back-off."""
    return not call.failed if isinstance(call, Execution) else call.succeeded


def _sleeps(execution: Execution, pause_ms: float) -> bool:
    """Whether a tool only waited: for as long as a number of its input says."""
    took_ms = _ended_ms(execution) - execution.called.at_ms
    if took_ms < pause_ms or execution.failed:
        return False
    spans = (n * unit for n in _numbers(execution.request.input) for unit in _UNITS_MS)
    return any(abs(took_ms - span) <= span / 10 for span in spans)


def _numbers(value: Json) -> Iterator[float]:
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(parts, int | float) and not isinstance(parts, bool):
        yield parts
    elif not isinstance(parts, str) and parts is not None and not isinstance(parts, bool):
        for part in parts:
            yield from _numbers(part)
