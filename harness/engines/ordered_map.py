"""An ordered map over an engine: its tasks are an iterable, and may be more than memory holds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from itertools import chain, islice
from typing import TypeVar

from harness.engines import Engine, as_it_was
from harness.engines.serial import Serial

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

AHEAD = 4
"""How many tasks for each worker are taken before their results are asked for."""


def ordered_map(
    engine: Engine,
    work: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    lost: Callable[[TaskT], ResultT],
    again: Callable[[TaskT, int], TaskT] | None = None,
) -> Generator[ResultT]:
    """`work` of each task, in order, as `Engine.each` does it.

    A single task is done in this process, unless `again` says what to do where it ends its process.

    The tasks are taken a few ahead of the results, so neither grows with their number. Closing it
    interrupts what is under way.
    """
    rest = iter(tasks)
    first = list(islice(rest, 2))
    left = chain(first, rest)
    chosen = engine if len(first) > 1 or again is not None else Serial()
    window = engine.workers * AHEAD
    repeat = again or as_it_was
    yield from chosen.each(work, lambda: next(left, None), window=window, lost=lost, again=repeat)
