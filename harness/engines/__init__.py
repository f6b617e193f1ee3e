"""Engines: how tasks run in this process, in many processes, or on many machines.

Results come in task order, and a lost worker's task is done again. So results do not depend on the
workers. Runs, recordings and campaign batches use the same engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

ResultT = TypeVar("ResultT")

ATTEMPTS = 3
"""How many workers a task may cost before it is given up."""

STOP_S = 10.0
"""How long a worker may take to end what it works on once it is interrupted."""


Again: TypeAlias = Callable[[Any, int], Any]
Loose: TypeAlias = Callable[[Any], bool]


def as_it_was(task: Any, status: int) -> Any:
    """The task unchanged."""
    return task


def in_order(task: Any) -> bool:
    """No result is given out of order."""
    return False


class Engine(Protocol):
    """Does tasks somewhere."""

    workers: int
    """How many tasks can be under way at once."""

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
        again: Again = as_it_was,
        attempts: int = ATTEMPTS,
        loose: Loose = in_order,
        rest: bool = False,
    ) -> Iterator[ResultT]:
        """`work` of each task, in order, until the source has none and none is under way.

        `work` is a function at module level, tasks and results are plain data. `source` gives the
        next task, None when there is none now; it is asked again after each result. At most
        `window` tasks are handed out whose results were not yet given. `lost` makes the result of a
        task that has cost `attempts` workers; it is called in this process, in its place in the
        order, and may use the engine itself, to do parts of the task. `again` makes the task that
        is done next of a task and the exit status of the local worker that it has cost. Raises what
        `work` and `lost` raise, when all results before it were given. A local worker's
        result of a task that is `loose` is given as soon as it is there, and is not counted in the
        window. With `rest`, an interrupt first yields what local workers have done after a task
        that is still under way.
        """
        ...
