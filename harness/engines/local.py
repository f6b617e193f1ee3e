"""Worker processes on this machine, spawned once, each with its imported modules.

Each worker leases one task at a time over its own pipe. So the task of a dead worker is known, and
the next worker gets it. Ctrl-C is blocked while a worker starts. If this process is killed, the
pipes end, and so do the workers.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, resource_tracker
from typing import Any, Self, TypeVar

from harness.engines import ATTEMPTS, STOP_S, Again, Loose, as_it_was, in_order
from harness.engines.worker import serve
from harness.import_path import outside_start_folder, safe_path
from harness.plugins import loaded_modules

ResultT = TypeVar("ResultT")

_AGAIN_S = 0.5
"""The interval, in seconds, at which a worker is told again to end its task."""


class Local:
    """An engine of worker processes. As a context manager it keeps them from one `each` to the
    next."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._keeps, self._pool = False, None

    _pool: _Pool | None

    def __enter__(self) -> Self:
        self._keeps = True
        return self

    def __exit__(self, *_: object) -> None:
        self._keeps = False
        self._put_back(None)

    def _taken(self, work: Callable[[Any], Any]) -> _Pool:
        """The kept processes, or new ones, for this work."""
        pool, self._pool = self._pool, None
        if pool is not None and pool.work is work:
            return pool
        if pool is not None:
            pool.stop()
        return _Pool(work, self.workers)

    def _put_back(self, pool: _Pool | None) -> None:
        """Keep idle processes; stop all others."""
        if self._keeps and pool is not None and pool.is_idle:
            self._pool = pool
            return
        for ending in (pool, self._pool):
            if ending is not None:
                ending.stop()
        self._pool = None

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
        """See `Engine.each`."""
        pool = self._taken(work)
        try:
            done: dict[int, tuple[_Lease, Any]] = {}
            try:
                yield from _results(pool, source, window, lost, again, attempts, loose, done)
            except KeyboardInterrupt:
                if rest:
                    yield from _ended(done)
                raise
        finally:
            self._put_back(pool)


class _Lease:
    """A task with its place in the order; a loose task has no place."""

    def __init__(self, place: int | None, task: Any) -> None:
        self.place, self.task, self.cost, self.status = place, task, 0, 0


class _Worker:
    def __init__(self, context: Any, work: Callable[[Any], Any], plugins: Sequence[str]) -> None:
        self.pipe, theirs = context.Pipe()
        self.lease: _Lease | None = None
        self.process = context.Process(target=serve, args=(theirs, work, plugins, safe_path()))
        with outside_start_folder():
            self._start()
        theirs.close()

    def _start(self) -> None:
        resource_tracker.ensure_running()  # it changes the mask as it starts
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def end(self) -> int:
        """The exit status of a worker whose pipe has ended; a worker that is still alive is
        ended."""
        self.process.join(STOP_S)
        self.process.kill()
        self.process.join()
        return self.process.exitcode or 0


class _Pool:
    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._context, self.work = multiprocessing.get_context("spawn"), work
        self._plugins = loaded_modules()
        self._most = workers
        self._workers: list[_Worker] = []

    @property
    def has_room(self) -> bool:
        return len(self._workers) < self._most or any(w.lease is None for w in self._workers)

    @property
    def is_idle(self) -> bool:
        """Whether no process works on a task."""
        return all(worker.lease is None for worker in self._workers)

    def hand(self, lease: _Lease) -> None:
        """Hand a task to a worker; `finished` notices a dead worker."""
        worker = next((w for w in self._workers if w.lease is None), None)
        if worker is None:
            worker = _Worker(self._context, self.work, self._plugins)
            self._workers.append(worker)
        worker.lease = lease
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.pipe.send(lease.task)

    def finished(self) -> Iterator[tuple[_Lease, Any]]:
        """Each finished lease with (result, error), or with None for a dead worker."""
        busy: dict[Any, _Worker] = {w.pipe: w for w in self._workers if w.lease is not None}
        for pipe in connection.wait(list(busy)):
            worker = busy[pipe]
            lease, worker.lease = worker.lease, None
            assert lease is not None
            try:
                said = worker.pipe.recv()
            except (EOFError, OSError):
                self._workers.remove(worker)
                lease.status = worker.end()
                said = None
            yield lease, said

    def _wait(self, seconds: float) -> None:
        """Wait for the workers. A busy worker gets the signal again, because another thread of its
        program may have taken it."""
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            busy = [worker.process for worker in self._workers if worker.process.is_alive()]
            if not busy:
                return
            connection.wait([process.sentinel for process in busy], min(_AGAIN_S, left_s))
            for worker in self._workers:
                if worker.lease is not None and worker.process.is_alive():
                    worker.process.terminate()

    def stop(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            if worker.lease is not None:
                worker.process.terminate()
        try:
            self._wait(STOP_S)
        finally:
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()


def _results(
    pool: _Pool,
    source: Callable[[], Any],
    window: int,
    lost: Callable[[Any], ResultT],
    again: Again,
    attempts: int,
    loose: Loose,
    done: dict[int, tuple[_Lease, Any]],
) -> Iterator[ResultT]:
    waiting: deque[_Lease] = deque()
    handed = given = 0
    under_way = 0
    while True:
        while pool.has_room and (waiting or handed - given < window):
            if not waiting:
                task = source()
                if task is None:
                    break
                is_loose = loose(task)
                waiting.append(_Lease(None if is_loose else handed, task))
                handed += not is_loose
                under_way += 1
            pool.hand(waiting.popleft())
        if not under_way:
            return
        for lease, said in pool.finished():
            if said is None:
                lease.cost, lease.task = lease.cost + 1, again(lease.task, lease.status)
            if said is None and lease.cost < attempts:
                waiting.append(lease)
                continue
            under_way -= 1
            if lease.place is None:
                yield _result(lease, said, lost)
            else:
                done[lease.place] = lease, said
        while given in done:
            given += 1
            yield _result(*done.pop(given - 1), lost)


def _result(lease: _Lease, said: Any, lost: Callable[[Any], ResultT]) -> ResultT:
    """The result of a task. Raises the exception of its work."""
    result, error = (lost(lease.task), None) if said is None else said
    if error is not None:
        raise error
    return result


def _ended(done: dict[int, tuple[_Lease, Any]]) -> Iterator[Any]:
    """The results that were not yielded yet, without failed and lost tasks."""
    for place in sorted(done):
        _, said = done[place]
        if said is not None and said[1] is None:
            yield said[0]
