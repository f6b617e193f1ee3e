"""An ordered map over an engine: its tasks are an iterable, and may be more than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

from harness.engines import ATTEMPTS, Engine, as_it_was

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

AHEAD = 4
"""The number of tasks for each worker that are taken ahead of the results."""


def ordered_map(
    engine: Engine,
    work: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    lost: Callable[[TaskT], ResultT],
    again: Callable[[TaskT, int], TaskT] = as_it_was,
    attempts: int = ATTEMPTS,
) -> Generator[ResultT]:
    """Yield `work(task)` for each task, in order, like `Engine.each`.

    The tasks are taken a few ahead of the results, so neither grows with their number. Closing it
    interrupts the running tasks. Ctrl-C yields the available results, and is then raised.
    """
    left, window = iter(tasks), engine.workers * AHEAD
    yield from engine.each(
        work,
        lambda: next(left, None),
        window=window,
        lost=lost,
        again=again,
        attempts=attempts,
        rest=True,
    )
