"""Many tasks that are known by an iterable, which may be longer than memory is large."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

from harness.engines import Engine
from harness.engines.here import Here

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

AHEAD = 4
"""How many tasks for each worker are taken before their results are asked for."""


def spread(
    engine: Engine,
    work: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    lost: Callable[[TaskT], ResultT],
) -> Iterator[ResultT]:
    """`work` of each task, in order, as `Engine.each` does it; a single one in this process.

    The tasks are taken a few ahead of the results, so neither grows with their number.
    """
    rest = iter(tasks)
    first = list(islice(rest, 2))
    left = chain(first, rest)
    chosen = engine if len(first) > 1 else Here()
    window = engine.workers * AHEAD
    return chosen.each(work, lambda: next(left, None), window=window, lost=lost)
