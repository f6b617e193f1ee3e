"""asyncio, and anyio on it, in virtual time, through asyncio's policy and without patches.

When nothing is ready, the clock jumps to the next timer. It stands still during real work (a
thread's job, a socket, a child process), because that work would otherwise time out at once.

Idle connections look like slow ones, so real work gets `PATIENCE_S` seconds without events or
computing. That is longer than the real wait that makes a run unknown. So a timeout after it never
counts as a fact about the agent.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar, TypeVarTuple, Unpack

from harness.clock.meter import REAL_WAIT_LIMIT_S, RealWaitMeter
from harness.clock.virtual_clock import MICROSECONDS, VirtualClock
from harness.clock.worker_threads import WorkerThreads
from harness.core.values.errors import RunStopped

Check: TypeAlias = Callable[[], None]
"""Raises `RunStopped` when the run is over."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@contextmanager
def virtual_event_loops(clock: VirtualClock, *, check: Check | None = None) -> Iterator[None]:
    """Make each new asyncio event loop in this block a `VirtualEventLoop` on `clock`.

    One clock drives one loop at a time: a second loop beside the first is an ordinary one, whose
    waits are real and measured. `check` is as for `VirtualEventLoop`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.16 removes policies
        before = asyncio.get_event_loop_policy()
        base = asyncio.DefaultEventLoopPolicy

    class VirtualPolicy(base):  # type: ignore[valid-type, misc]
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            if clock.driven:
                return asyncio.SelectorEventLoop()
            return VirtualEventLoop(clock, check=check)

    _set_policy(VirtualPolicy())
    try:
        yield
    finally:
        _set_policy(before)


def _set_policy(policy: asyncio.AbstractEventLoopPolicy) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(policy)


PATIENCE_S = REAL_WAIT_LIMIT_S * 1.25

CHECK_S = 0.25
"""The interval, in seconds, at which a loop in a real wait calls its `check`."""

_Events = list[tuple[selectors.SelectorKey, int]]


class _Selector(selectors.DefaultSelector):
    """The machine's selector; each `select` of the event loop goes to `ask`."""

    ask: Callable[[float | None], _Events]

    def select(self, timeout: float | None = None) -> _Events:
        return self.ask(timeout)

    def wait(self, real_s: float | None) -> _Events:
        return super().select(real_s)


class VirtualEventLoop(asyncio.SelectorEventLoop):
    """An asyncio event loop whose time is `clock`'s.

    `check` is called repeatedly while the loop runs or waits. Its exceptions leave the loop, also
    if a thread hangs or the tasks are deadlocked.
    """

    def __init__(self, clock: VirtualClock, *, check: Check | None = None) -> None:
        self._clock = clock
        self._virtual_selector = _Selector()
        super().__init__(self._virtual_selector)
        self._virtual_selector.ask = self._select
        self._clock_resolution = 1 / MICROSECONDS
        self._own_files = len(self._virtual_selector.get_map())
        self._children: list[asyncio.SubprocessTransport] = []
        self._only_threads = False
        self._stopped = False
        self._check = check
        self._workers = WorkerThreads(self._look_again)
        try:
            clock.attach(self._workers.park)
        except RuntimeError:
            super().close()
            raise

    def time(self) -> float:
        """Virtual seconds, as `clock.monotonic()`."""
        return self._clock.monotonic()

    def run_forever(self) -> None:
        """Like asyncio's method; the calling thread is the one that never parks."""
        self._workers.owner = threading.get_ident()
        super().run_forever()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Like asyncio's method; the clock stands still until the job ends or sleeps."""
        job = self._workers.job(executor)
        future: asyncio.Future[T]
        if isinstance(executor, ThreadPoolExecutor | None):
            future = super().run_in_executor(executor, self._workers.run, job, func, *args)
            job.executor = executor or self._own_executor
        else:
            future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(
            lambda done: self._workers.future_done(job, cancelled=done.cancelled())
        )
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Like asyncio's method; during it, sleeping threads move the clock, and timers do not.

        After a limit it does not wait: sleepers are stopped, and hung threads are left.
        """
        if self._stopped:
            self._workers.close(stopped=True)
            return
        with self._threads_alone():
            await super().shutdown_default_executor()

    async def _make_subprocess_transport(
        self, *args: Any, **kwargs: Any
    ) -> asyncio.SubprocessTransport:
        base: Any = super()
        child: asyncio.SubprocessTransport = await base._make_subprocess_transport(*args, **kwargs)
        self._children.append(child)
        return child

    def close(self) -> None:
        """Like asyncio's method; threads that still sleep continue, or are stopped with the run."""
        if not self.is_closed():
            self._workers.close(stopped=self._stopped)
            self._clock.attach(None)
        super().close()

    @property
    def _own_executor(self) -> Executor | None:
        executor: Executor | None = getattr(self, "_default_executor", None)
        return executor

    def _look_again(self) -> None:
        with suppress(RuntimeError):  # the loop was closed in between
            self.call_soon_threadsafe(lambda: None)

    @contextmanager
    def _threads_alone(self) -> Iterator[None]:
        self._only_threads = True
        try:
            yield
        finally:
            self._only_threads = False

    def _select(self, timeout: float | None) -> _Events:
        if events := self._virtual_selector.wait(0):
            return events
        try:
            if timeout != 0:
                return self._pass_time()
            if not self._stopped:  # a loop that never idles must meet its limit too
                self._look()
        except RunStopped:
            self._stopped = True
            raise
        return []

    def _pass_time(self) -> _Events:
        if self._under_way() and (events := self._wait_really(PATIENCE_S)):
            return events
        if self._only_threads and not self._workers.has_jobs(self._own_executor):
            return self._wait_really(None)  # other threads are not waited for
        timer_us, sleeper_us = self._next_timer_us(), self._workers.next_us()
        if sleeper_us is not None and (timer_us is None or sleeper_us < timer_us):
            # After the end of the agent, a tool that hangs past the limit does not delay the run.
            given_up = self._only_threads and not self._clock.reaches(sleeper_us)
            if not (given_up and self._workers.stop_first()):
                self._clock.pass_until(sleeper_us, "sleep")
                self._workers.wake_first()
        elif timer_us is not None:
            self._clock.pass_until(timer_us, "loop")
        else:
            return self._wait_really(None)
        return []

    def _under_way(self) -> bool:
        self._children = [child for child in self._children if child.get_returncode() is None]
        return (
            len(self._virtual_selector.get_map()) > self._own_files
            or bool(self._children)
            or self._workers.busy()
            or any(self._computes(thread) for thread in threading.enumerate())
        )

    def _computes(self, thread: threading.Thread) -> bool:
        """Whether a thread computes. anyio gives jobs to its workers without `run_in_executor`, so
        the threads themselves are read."""
        idle = getattr(thread, "idle_workers", None)
        if idle is None or getattr(thread, "loop", None) is not self:
            return False
        at_work = thread not in idle and not getattr(thread, "stopping", False)
        return at_work and not self._workers.is_asleep(thread.ident)

    def _next_timer_us(self) -> int | None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if self._only_threads or not timers:
            return None
        return self._clock.moment_us(timers[0].when())

    def _wait_really(self, patience_s: float | None) -> _Events:
        """Ready events; empty after `patience_s` without events and computing."""
        with RealWaitMeter() as meter:
            while patience_s is None or meter.waited_s < patience_s:
                left_s = None if patience_s is None else patience_s - meter.waited_s
                self._look()
                real_s = CHECK_S if left_s is None else min(left_s, CHECK_S)
                if events := self._virtual_selector.wait(real_s):
                    return events
        return []

    def _look(self) -> None:
        if self._check is not None:
            self._check()


def run_async(
    main: Callable[[], Coroutine[Any, Any, T]],
    clock: VirtualClock,
    *,
    check: Check | None = None,
) -> T:
    """Call the coroutine function `main`, and run its coroutine to the end in virtual time.

    Like `asyncio.run`: leftover tasks are cancelled, asynchronous generators and the default
    executor are shut down. Raises the exceptions of `main` and `check`, and `RunStopped` at a limit
    of virtual time.
    """

    def loop() -> VirtualEventLoop:
        return VirtualEventLoop(clock, check=check)

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(main())
