"""Worker processes on this machine, spawned once, each with what it has imported.

A worker is leased one task at a time over a pipe of its own, so when it dies it is known which task
that was: it goes to the next free worker. Ctrl-C reaches only the parent, which ends the workers in
their orderly way; when the parent is killed, the pipes end, and with them the workers.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from harness.campaign.engines import ATTEMPTS

ResultT = TypeVar("ResultT")

STOP_S = 10.0
"""How long a worker may take to end what it works on."""


class Local:
    """So many processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def each(
        self,
        work: Callable[[Any], ResultT],
        source: Callable[[], Any],
        *,
        window: int,
        lost: Callable[[Any], ResultT],
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        pool = _Pool(work, self.workers)
        try:
            yield from _in_order(pool, source, window, lost)
        finally:
            pool.stop()


class _Lease:
    """A task with its place in the order, and how many workers it has cost."""

    def __init__(self, place: int, task: Any) -> None:
        self.place, self.task, self.cost = place, task, 0


class _Worker:
    """A process, our end of its pipe, and what it works on."""

    def __init__(self, context: Any, work: Callable[[Any], Any]) -> None:
        self.pipe, theirs = context.Pipe()
        self.lease: _Lease | None = None
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=False)
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()


class _Pool:
    """The workers; a dead one is replaced."""

    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._context, self._work = multiprocessing.get_context("spawn"), work
        self._most = workers
        self.workers: list[_Worker] = []

    def free(self) -> _Worker | None:
        """A worker that has nothing to do, started if there may be one more; None without any."""
        idle = next((w for w in self.workers if w.lease is None), None)
        if idle is None and len(self.workers) < self._most:
            idle = _Worker(self._context, self._work)
            self.workers.append(idle)
        return idle

    def hand(self, worker: _Worker, lease: _Lease) -> None:
        """Lease a task to a worker. One that is dead by now is noticed when it is waited for."""
        worker.lease = lease
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.pipe.send(lease.task)

    def heard(self) -> Iterator[tuple[_Lease, Any]]:
        """Wait until a worker has something to say: its lease and (result, error), or None for a
        worker that died."""
        busy: dict[Any, _Worker] = {w.pipe: w for w in self.workers if w.lease is not None}
        for pipe in connection.wait(list(busy)):
            worker = busy[pipe]
            lease, worker.lease = worker.lease, None
            assert lease is not None
            try:
                yield lease, worker.pipe.recv()
            except (EOFError, OSError):
                self.workers.remove(worker)
                worker.process.join()
                yield lease, None

    def stop(self) -> None:
        """End all workers: those that work are interrupted, and killed when they do not end."""
        for worker in self.workers:
            worker.pipe.close()
            if worker.lease is not None:
                worker.process.terminate()
        for worker in self.workers:
            worker.process.join(STOP_S)
            worker.process.kill()
            worker.process.join()


def _in_order(
    pool: _Pool,
    source: Callable[[], Any],
    window: int,
    lost: Callable[[Any], ResultT],
) -> Iterator[ResultT]:
    again: list[_Lease] = []
    done: dict[int, ResultT] = {}
    handed = given = 0
    while True:
        while (worker := pool.free()) is not None and (again or handed - given < window):
            if not again:
                task = source()
                if task is None:
                    break
                again.append(_Lease(handed, task))
                handed += 1
            pool.hand(worker, again.pop(0))
        if handed == given:
            return
        for lease, said in pool.heard():
            if said is None:
                lease.cost += 1
                if lease.cost < ATTEMPTS:
                    again.append(lease)
                    continue
            done[lease.place] = lost(lease.task) if said is None else _result(said)
        while given in done:
            given += 1
            yield done.pop(given - 1)


def _result(said: tuple[Any, BaseException | None]) -> Any:
    result, error = said
    if error is not None:
        raise error
    return result


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """The life of a worker: task after task, until the pipe ends. What the first one has left, all
    modules among it, stays to the end, so the garbage collector need not look there again."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        pipe.send(_done(work, pipe.recv()))
        gc.collect()
        gc.freeze()
        while True:
            pipe.send(_done(work, pipe.recv()))


def _done(work: Callable[[Any], Any], task: Any) -> tuple[Any, Exception | None]:
    try:
        return work(task), None
    except Exception as error:
        return None, error
