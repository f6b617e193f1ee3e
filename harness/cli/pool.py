"""Work in several processes, with the results in the order of the tasks.

Workers are spawned, never forked: a fork would copy the threads and sockets of whoever calls.
Outside of a task Ctrl-C is held back from them by the signal mask, so that none is lost: an
interrupt ends what runs in its own orderly way, and a worker prints nothing about it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TypeVar, cast

from harness.core.errors import HarnessError, InputError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

STOP_S = 10.0
"""How long a worker may take to end what it works on after Ctrl-C."""

_CTRL_C = frozenset({signal.SIGINT})


def each(
    work: Callable[[_Task], _Result], tasks: Sequence[_Task], workers: int
) -> Iterator[_Result]:
    """`work` of each task, in order; in this process when one worker is enough.

    `work` is a function at module level, tasks and results are plain data. Raises HarnessError when
    a worker dies, and what `work` raises.
    """
    if min(workers, len(tasks)) <= 1:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), context) as pool:
        futures: list[Future[_Result]] = []
        try:
            with _ctrl_c_held_back():
                futures += [pool.submit(_interruptible, work, task) for task in tasks]
            for future in futures:
                yield future.result()
        except BrokenProcessPool:
            raise HarnessError("a worker process died; -j 1 shows which run ends it") from None
        finally:
            _stop(pool, futures)


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
