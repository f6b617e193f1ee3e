"""Work in several processes, with the results in the order of the tasks.

Workers are spawned, never forked: a fork would copy the threads and sockets of whoever calls.
Only a few tasks are ahead of the results, so that neither grows with their number. Outside of a
task Ctrl-C is held back from the workers by the signal mask, so that none is lost: an interrupt
ends what runs in its own orderly way, and a worker prints nothing about it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import chain, islice
from multiprocessing import resource_tracker
from typing import Generic, TypeAlias, TypeVar, cast

from harness.core.errors import HarnessError, InputError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

STOP_S = 10.0
"""How long a worker may take to end what it works on after Ctrl-C."""

AHEAD = 4
"""How many tasks for each worker are begun before their results are asked for."""

Lost: TypeAlias = Callable[[_Task, Callable[[_Task], _Result | None]], _Result]
"""Makes a result of a task that ends its worker; it may try parts of it, None for those that do."""

_CTRL_C = frozenset({signal.SIGINT})


def each(
    work: Callable[[_Task], _Result],
    tasks: Iterable[_Task],
    workers: int,
    lost: Lost[_Task, _Result] | None = None,
) -> Iterator[_Result]:
    """`work` of each task, in order; in this process when one worker is enough.

    `work` is a function at module level, tasks and results are plain data. A task whose worker dies
    twice, the second time with nothing else to do, gives what `lost` makes of it. Raises
    HarnessError where there is no `lost`, and what `work` raises.
    """
    rest = iter(tasks)
    first = list(islice(rest, 2))
    if min(workers, len(first)) <= 1:
        yield from map(work, chain(first, rest))
        return
    crew = _Crew(work, workers, lost)
    try:
        for task in chain(first, rest):
            if len(crew.waiting) >= workers * AHEAD:
                yield crew.next()
            crew.begin(task)
        while crew.waiting:
            yield crew.next()
    finally:
        crew.stop()


class _Crew(Generic[_Task, _Result]):
    """Workers, and the tasks that they have."""

    def __init__(
        self,
        work: Callable[[_Task], _Result],
        workers: int,
        lost: Lost[_Task, _Result] | None,
    ) -> None:
        self._work, self._workers, self._lost = work, workers, lost
        self._pool = _pool(workers)
        self.waiting: deque[tuple[_Task, Future[_Result]]] = deque()

    def begin(self, task: _Task) -> None:
        """Give a task to the workers; to new ones when they have died."""
        try:
            future = self._submit(task)
        except BrokenProcessPool:
            self._renew()
            future = self._submit(task)
        self.waiting.append((task, future))

    def next(self) -> _Result:
        """The result of the task that was begun first."""
        task, future = self.waiting.popleft()
        try:
            return future.result()
        except BrokenProcessPool:
            if self._lost is None:
                what = "a worker process died; -j 1 shows which run ends it"
                raise HarnessError(what) from None
        found = self._alone(task)
        result = self._lost(task, self._alone) if found is None else found
        self._renew()
        return result

    def _alone(self, task: _Task) -> _Result | None:
        """The result of a task in a process of its own; None when that dies."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = _pool(1)
        try:
            return self._submit(task).result()
        except BrokenProcessPool:
            return None

    def _submit(self, task: _Task) -> Future[_Result]:
        with _ctrl_c_held_back():
            return self._pool.submit(_interruptible, self._work, task)

    def _renew(self) -> None:
        """New workers, which get again what the dead ones had not done."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = _pool(self._workers)
        self.waiting = deque(
            (task, future if _is_done(future) else self._submit(task))
            for task, future in self.waiting
        )

    def stop(self) -> None:
        """End what has not ended: nothing, unless something was raised."""
        _stop(self._pool, [future for _, future in self.waiting])


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))


def _is_done(future: Future[_Result]) -> bool:
    """Whether the task has ended by itself, well or not."""
    if not future.done() or future.cancelled():
        return False
    return not isinstance(future.exception(), BrokenProcessPool)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Hold Ctrl-C back from here, and from the processes that start here until they let it in.

    The tracker of multiprocessing changes the mask as it starts, so it is started before.
    """
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)


def _interruptible(work: Callable[[_Task], _Result], task: _Task) -> _Result:
    """Do a task with Ctrl-C let in; once it has come, it is kept for the next task too."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _CTRL_C)
        return work(task)
    except KeyboardInterrupt:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
        signal.raise_signal(signal.SIGINT)
        raise InputError("interrupted") from None
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)


def _stop(pool: ProcessPoolExecutor, futures: Sequence[Future[_Result]]) -> None:
    """End what has not ended: nothing, unless something was raised."""
    pool.shutdown(wait=False, cancel_futures=True)
    if all(future.done() for future in futures):
        return
    children = multiprocessing.active_children()
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(cast(int, child.pid), signal.SIGINT)
    for child in children:
        child.join(STOP_S)
        child.kill()
