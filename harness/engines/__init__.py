"""Engines: how tasks run in this process, in many processes, or on many machines.

Results come in task order, and the task of a lost worker is repeated. So results do not depend on
the workers. Runs, recordings and campaign batches use the same engines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

ATTEMPTS = 3
"""The number of workers that a task may end before the engine gives it up."""

STOP_S = 10.0
"""The seconds that an interrupted worker has to end its task."""

AHEAD = 4
"""The number of tasks for each worker that `ordered_map` takes ahead of the results."""


Again: TypeAlias = Callable[[Any, int], Any]
Loose: TypeAlias = Callable[[Any], bool]


def as_it_was(task: Any, status: int) -> Any:
    """The task unchanged."""
    return task


def in_order(task: Any) -> bool:
    """Give no result out of order."""
    return False


class Engine(Protocol):
    """Runs tasks."""

    workers: int
    """The number of tasks that can run at once."""

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
        """Yield `work(task)` for each task, in order, until the source is empty and no task runs.

        `work` is a function at module level; tasks and results are plain data. `source` returns the
        next task, or None if there is none now; it is called again after each result. At most
        `window` tasks without a yielded result are handed out. `lost` makes the result of a task
        that ended `attempts` workers. It is called in this process, in its place in the order, and
        may use the engine for parts of the task. `again` makes the next attempt from a task and the
        exit status of the local worker that it ended. Exceptions of `work` and `lost` are raised
        after all earlier results. A local worker's result of a `loose` task is yielded at once, and
        does not count in the window. With `rest`, an interrupt first yields the results of local
        workers behind a task that still runs.
        """
        ...


class Serial:
    """An engine without workers."""

    workers = 1

    def each(
        self, work: Callable[[Any], ResultT], source: Callable[[], Any], **_: Any
    ) -> Iterator[ResultT]:
        """See `Engine.each`: no task is lost here, and none waits for another one."""
        while (task := source()) is not None:
            yield work(task)


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
