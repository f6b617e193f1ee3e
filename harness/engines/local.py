"""Worker processes on this machine, spawned once, each with its imported modules.

Each worker leases one task at a time over its own pipe. So the task of a dead worker is known, and
the next worker gets it. Ctrl-C is blocked while a worker starts. A worker whose run cannot be
stopped is killed, and counts as dead. If this process is killed, the pipes end, and so do the
workers; a guardian kills those that do not, and the processes that targets have left.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, resource_tracker
from typing import Any, Self, TypeVar

from harness.core.values.errors import MachineLacks
from harness.engines import ATTEMPTS, STOP_S, Again, Loose, as_it_was, in_order
from harness.engines.worker import ResultStream, new_token, serve
from harness.import_path import outside_start_folder, safe_path
from harness.plugins import loaded_modules
from harness.processes.family import end_family, guardian_of
from harness.processes.life_signs import LOOK_S, LifeSigns, Overseer
from harness.processes.machine import own_call

ResultT = TypeVar("ResultT")

MARKER = "HARNESS_WORKERS_OF"
"""The variable of the environment that marks workers, and what their targets start."""

GRACE_S = 2.0
"""The seconds that workers have to end in order after their owner was killed."""

_POLL_S = 0.02
"""The interval, in seconds, of looks at a worker that ends."""

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
        rest: bool = False,
        **order: Any,
    ) -> Iterator[ResultT]:
        """See `Engine.each`."""
        pool = self._taken(work)
        try:
            done: dict[int, tuple[_Lease, Any]] = {}
            try:
                yield from _results(pool, source, done, **order)
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
        token, signs = new_token(), LifeSigns()
        self.results = ResultStream(self.pipe.fileno(), token)
        arguments = (theirs, work, token, signs, plugins, safe_path())
        self.process = context.Process(target=serve, args=arguments)
        with outside_start_folder():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self.process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()
        self._overseer, self._trusted = Overseer(self.process.pid or 0, signs), True

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self.process.exitcode is not None

    def news(self) -> list[Any]:
        """What becomes ready with bytes of a result, or at the end of the process.

        The sentinel is a pipe too, so a target that writes on all descriptors makes it ready."""
        if self._trusted and not self.has_ended and connection.wait([self.process.sentinel], 0):
            self._trusted = False
        return [self.pipe, self.process.sentinel] if self._trusted else [self.pipe]

    def kill_if_overdue(self) -> None:
        """Kill a worker whose run goes on after it was stopped, or gives no sign of life."""
        if self._overseer.is_overdue():
            self.process.kill()

    def end(self) -> int:
        """The exit status of a worker whose pipe has ended; a worker that is still alive is
        ended."""
        end_s = time.monotonic() + STOP_S
        while not self.has_ended and time.monotonic() < end_s:
            time.sleep(_POLL_S)
        self.process.kill()
        self.process.join()
        return self.process.exitcode or 0


class _Pool:
    def __init__(self, work: Callable[[Any], Any], workers: int) -> None:
        self._context, self.work = multiprocessing.get_context("spawn"), work
        self._plugins = loaded_modules()
        self._most = workers
        self._workers: list[_Worker] = []
        # It changes the mask of signals as it starts. It serves all of this process, so it must
        # not have the mark.
        with outside_start_folder():
            resource_tracker.ensure_running()
        self._mark = secrets.token_hex(8)
        self._guardian = guardian_of(f"{MARKER}={self._mark}", GRACE_S)

    @property
    def has_room(self) -> bool:
        return len(self._workers) < self._most or any(w.lease is None for w in self._workers)

    @property
    def is_idle(self) -> bool:
        """Whether no process works on a task."""
        return all(worker.lease is None for worker in self._workers)

    def hand(self, waiting: deque[_Lease]) -> None:
        """Hand the first waiting task to a worker; `finished` notices a dead worker.

        Where the machine has no room for one more worker, the task waits for another one.
        """
        worker = next((w for w in self._workers if w.lease is None), None)
        try:
            worker = worker or self._new_worker()
        except MachineLacks:
            self._most = len(self._workers)
            if not self._most:
                raise
            return
        worker.lease = waiting.popleft()
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.pipe.send(worker.lease.task)

    def _new_worker(self) -> _Worker:
        """Start a worker with the mark of this engine in its environment.

        Raises MachineLacks when no more can be started.
        """
        os.environ[MARKER] = self._mark
        try:
            with own_call():
                worker = _Worker(self._context, self.work, self._plugins)
        finally:
            del os.environ[MARKER]
        self._workers.append(worker)
        if self._guardian.stdin is not None:
            self._guardian.stdin.write(f"{worker.process.pid}\n".encode())
            self._guardian.stdin.flush()
        return worker

    def finished(self) -> Iterator[tuple[_Lease, Any]]:
        """Each finished lease with (result, error), or with None for a dead worker."""
        for worker, said in self._heard():
            lease, worker.lease = worker.lease, None
            assert lease is not None
            if said is None:
                self._workers.remove(worker)
                lease.status = worker.end()
            yield lease, None if said is None else pickle.loads(said)

    def _heard(self) -> list[tuple[_Worker, bytes | None]]:
        """Wait until workers have a whole result, or have ended; return them, with None for these.

        In between, an overdue worker is killed."""
        busy = [worker for worker in self._workers if worker.lease is not None]
        heard: list[tuple[_Worker, bytes | None]] = []
        looked_s = time.monotonic()
        while busy and not heard:
            ready = connection.wait([news for worker in busy for news in worker.news()], LOOK_S)
            for worker in busy:
                try:
                    said = worker.results.take() if worker.pipe in ready else None
                except (EOFError, OSError):
                    heard.append((worker, None))
                    continue
                if said is not None or (worker.has_ended and worker.pipe not in ready):
                    heard.append((worker, said))
            if time.monotonic() - looked_s >= LOOK_S:
                looked_s = time.monotonic()
                for worker in busy:
                    worker.kill_if_overdue()
        return heard

    def _wait(self, seconds: float) -> None:
        """Wait for the workers. A busy worker gets the signal again, because another thread of its
        program may have taken it."""
        told_s = time.monotonic()
        end_s = told_s + seconds
        while (now_s := time.monotonic()) < end_s:
            if all(worker.has_ended for worker in self._workers):
                return
            time.sleep(_POLL_S)
            if now_s - told_s < _AGAIN_S:
                continue
            told_s = now_s
            for worker in self._workers:
                if worker.lease is not None and not worker.has_ended:
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
            self._dismiss()

    def _dismiss(self) -> None:
        """End what the targets have started and left, then the guardian, which is not needed."""
        end_family(f"{MARKER}={self._mark}")
        self._guardian.kill()
        self._guardian.wait()
        if self._guardian.stdin is not None:
            self._guardian.stdin.close()


def _results(
    pool: _Pool,
    source: Callable[[], Any],
    done: dict[int, tuple[_Lease, Any]],
    *,
    window: int,
    lost: Callable[[Any], ResultT],
    again: Again = as_it_was,
    attempts: int = ATTEMPTS,
    loose: Loose = in_order,
) -> Iterator[ResultT]:
    waiting: deque[_Lease] = deque()
    handed = given = under_way = 0
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
            pool.hand(waiting)
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
