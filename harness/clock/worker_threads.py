"""Threads beside a virtual event loop: which of them compute, and which of them sleep.

While a job computes, the clock stands still; otherwise every timeout around it would fire at once.
While it sleeps, the clock runs at most to the end of the shortest sleep. Sleepers wake in order of
the end of their sleep, then in job order, so the order does not depend on the machine.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple, Unpack

from harness.clock.virtual_clock import Source, abandoned
from harness.core.values.errors import RunStopped

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_AFTER_ALL_JOBS = 2**62


class Job:
    """One function that an executor got. It is over when both the function and its future are done.

    Either can be done first: a timeout cancels the future of a job that continues, and a result
    reaches the loop a moment after the function has returned.
    """

    def __init__(self, number: int, executor: Executor | None) -> None:
        self.number, self.executor = number, executor
        self.thread: int | None = None
        self.function_over = False
        self.future_over = False


class _Sleeper:
    """A thread that sleeps on the clock; sleepers are sorted by the end of their sleep."""

    def __init__(self, until_us: int, order: int, thread: int, source: Source) -> None:
        self.until_us, self.thread, self.source = until_us, thread, source
        self._place = until_us, order, thread
        self.woken, self.stopped = threading.Event(), False

    def __lt__(self, other: _Sleeper) -> bool:
        return self._place < other._place


class WorkerThreads:
    """The jobs of one event loop, and the threads that sleep on its clock.

    `wake` is called, from any thread, if the loop must check again.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._jobs: dict[int, Job] = {}
        self._asleep: list[_Sleeper] = []
        self._open = True
        self._stopped = False
        self.owner: int | None = None

    def job(self, executor: Executor | None) -> Job:
        """A new job, which is open from now on."""
        job = Job(next(self._numbers), executor)
        self._jobs[job.number] = job
        return job

    def run(self, job: Job, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Run `function` in the thread of `job`."""
        job.thread, job.function_over = threading.get_ident(), False
        self._jobs[job.number] = job
        try:
            return function(*args)
        finally:
            job.function_over, job.thread = True, None
            self._settle(job)
            self._wake()

    def future_done(self, job: Job, *, cancelled: bool) -> None:
        """Record that the loop has the outcome of `job`, or no longer needs it."""
        job.future_over = True
        never_ran = cancelled and job.thread is None
        job.function_over |= never_ran or not isinstance(job.executor, ThreadPoolExecutor | None)
        self._settle(job)

    def _settle(self, job: Job) -> None:
        if job.function_over and job.future_over:
            self._jobs.pop(job.number, None)

    def busy(self) -> bool:
        """Whether a job computes or is about to."""
        with self._lock:
            asleep = {sleeper.thread for sleeper in self._asleep}
        jobs = list(self._jobs.values())
        return any(_computes(job, jobs, asleep) for job in jobs)

    def is_asleep(self, thread: int | None) -> bool:
        """Whether the thread of this identity sleeps on the virtual clock."""
        with self._lock:
            return any(sleeper.thread == thread for sleeper in self._asleep)

    def park(self, until_us: int, source: Source) -> bool:
        """Stop the calling thread until the loop's clock reaches `until_us`.

        Return False at once in the loop's own thread, and after the end of the loop. Raises
        RunStopped if a limit stopped the run, or `stop_first` stopped this sleep.
        """
        thread = threading.get_ident()
        if thread == self.owner:
            return False
        sleeper = _Sleeper(until_us, self._order(thread), thread, source)
        with self._lock:
            if not self._open:
                return False
            heapq.heappush(self._asleep, sleeper)
        self._wake()
        sleeper.woken.wait()
        if self._stopped or sleeper.stopped:
            raise RunStopped("the run of this thread was stopped")
        return True

    def _order(self, thread: int) -> int:
        for job in list(self._jobs.values()):
            if job.thread == thread:
                return job.number
        started = [other.ident for other in threading.enumerate()]
        return _AFTER_ALL_JOBS + (started.index(thread) if thread in started else len(started))

    def next_us(self) -> int | None:
        """The moment at which the first sleeper must wake."""
        with self._lock:
            return self._asleep[0].until_us if self._asleep else None

    def has_jobs(self, executor: Executor | None) -> bool:
        """Whether a job of this executor is not over."""
        jobs = list(self._jobs.values())
        return any(job.executor is executor and not job.function_over for job in jobs)

    def wake_first(self) -> None:
        """Let the first sleeper continue."""
        with self._lock:
            sleeper = heapq.heappop(self._asleep)
        sleeper.woken.set()

    def stop_first(self) -> bool:
        """Stop the first sleeper instead, if it waits in a scripted answer of the harness."""
        with self._lock:
            if self._asleep[0].source != "transport":
                return False
            sleeper = heapq.heappop(self._asleep)
            sleeper.stopped = True
        sleeper.woken.set()
        return True

    def close(self, *, stopped: bool = False) -> None:
        """Let every sleeper continue, and park no thread from now on.

        After a run that was `stopped` at a limit, a sleeper gets RunStopped instead. A thread that
        still computes gets it at its next sleep, because it would move the clock of a later run.
        """
        with self._lock:
            self._open = False
            self._stopped |= stopped
            sleepers, self._asleep = self._asleep, []
        if self._stopped:
            at_work = {job.thread for job in list(self._jobs.values())}
            abandoned.update(t for t in threading.enumerate() if t.ident in at_work)
        for sleeper in sorted(sleepers):
            sleeper.woken.set()


def _computes(job: Job, jobs: list[Job], asleep: set[int]) -> bool:
    if job.thread is not None:
        return job.thread not in asleep
    return job.function_over or not _queued(job, jobs)


def _queued(job: Job, jobs: list[Job]) -> bool:
    threads: int | None = getattr(job.executor, "_max_workers", None)
    taken = [j for j in jobs if j.executor is job.executor and j.thread is not None]
    return threads is not None and len(taken) >= threads
