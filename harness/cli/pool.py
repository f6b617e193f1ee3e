"""Work in several processes, with the results in the order of the tasks.

Workers are spawned, never forked: a fork would copy the threads and sockets of whoever calls. They
are deaf to Ctrl-C but while they work on a task, so that an interrupt ends what runs, each in its
own orderly way, and prints nothing of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import TypeVar

from harness.core.errors import HarnessError, InputError

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

STOP_S = 10.0
"""How long a worker may take to end what it works on after Ctrl-C."""


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
        futures = _submit(pool, partial(_interruptible, work), tasks)
        try:
            for future in futures:
                yield future.result()
        except BrokenProcessPool:
            raise HarnessError("a worker process died; -j 1 shows which run ends it") from None
        finally:
            _stop(pool, futures)


def _submit(
    pool: ProcessPoolExecutor, work: Callable[[_Task], _Result], tasks: Sequence[_Task]
) -> list[Future[_Result]]:
    """Hand out the tasks; the workers that this starts inherit deafness to Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return [pool.submit(work, task) for task in tasks]
    finally:
        signal.signal(signal.SIGINT, before)


def _interruptible(work: Callable[[_Task], _Result], task: _Task) -> _Result:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return work(task)
    except KeyboardInterrupt:
        raise InputError("interrupted") from None
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stop(pool: ProcessPoolExecutor, futures: Sequence[Future[_Result]]) -> None:
    """End what has not ended: nothing, unless something was raised."""
    pool.shutdown(wait=False, cancel_futures=True)
    if all(future.done() for future in futures):
        return
    children = multiprocessing.active_children()
    for child in children:
        if child.pid is not None:
            os.kill(child.pid, signal.SIGINT)
    for child in children:
        child.join(STOP_S)
        child.kill()
