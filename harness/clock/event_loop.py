"""asyncio, and anyio on it, in virtual time, through asyncio's policy and without patches.

When nothing is ready, a loop waits on the clock for its next timer, beside the loops and sleepers
of other threads. The clock stands still during real work (a socket, a child process), because that
work would otherwise time out at once. Idle connections look like slow ones, so real work gets
`PATIENCE_S` seconds without events or computing.

Where a run names orders, a call of a task waits until its loop is idle. Tasks that asked meanwhile
wait beside it, and a choice lets one go on, as the network would. Nothing else is reordered:
asyncio promises that what is ready runs first come, first served.
"""

from __future__ import annotations

import asyncio
import itertools
import selectors
import threading
import warnings
from collections.abc import Callable, Collection, Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias, TypeVar, TypeVarTuple, Unpack

from harness.clock.meter import RealWaitMeter
from harness.clock.real_clock import real_sleep
from harness.clock.timekeeper import CALL, JOB, LOOP, PATIENCE_S, Wait
from harness.clock.virtual_clock import (
    MICROSECONDS,
    VirtualClock,
    abandoned,
    clock_of_run,
)
from harness.core.values.errors import RunStopped

Check: TypeAlias = Callable[[], None]
"""Raises `RunStopped` when the run is over."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@contextmanager
def virtual_event_loops(clock: VirtualClock, *, check: Check | None = None) -> Iterator[None]:
    """Make each new asyncio event loop in this block a `VirtualEventLoop` on `clock`.

    Loops in several threads share the clock. `check` is as for `VirtualEventLoop`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.16 removes policies
        before = asyncio.get_event_loop_policy()
        base = asyncio.DefaultEventLoopPolicy

    class VirtualPolicy(base):  # type: ignore[valid-type, misc]
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
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


_EPOLL_S = 0.001
"""The shortest time that a selector waits."""

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
        self._first_clock = clock
        self._virtual_selector = _Selector()
        super().__init__(self._virtual_selector)
        self._virtual_selector.ask = self._select
        self._clock_resolution = 1 / MICROSECONDS
        self._own_files = len(self._virtual_selector.get_map())
        self._children: list[asyncio.SubprocessTransport] = []
        self._only_threads = False
        self._stopped = False
        self._check = check
        self._at_work: dict[int, threading.Thread] = {}
        self._elsewhere: set[asyncio.Future[Any]] = set()
        self._turns: list[_TaskTurn] = []
        self._asked = itertools.count()

    @property
    def _clock(self) -> VirtualClock:
        """The clock of the run: a loop in a thread may serve several runs, one after the other."""
        return clock_of_run() or self._first_clock

    def time(self) -> float:
        """Virtual seconds, as `clock.monotonic()`."""
        return self._clock.monotonic()

    def run_forever(self) -> None:
        """Like asyncio's method, in virtual time."""
        with self._clock.keeper.running():
            super().run_forever()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Like asyncio's method; at one moment jobs wake in an order that does not depend on which
        thread has taken which."""
        future: asyncio.Future[T]
        if isinstance(executor, ThreadPoolExecutor | None):
            number = next(self._clock.keeper.jobs)
            return super().run_in_executor(executor, self._numbered, number, func, *args)
        future = super().run_in_executor(executor, func, *args)
        self._elsewhere.add(future)
        future.add_done_callback(self._elsewhere.discard)
        return future

    def _numbered(self, number: int, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        before = getattr(JOB, "number", None)
        JOB.number, self._at_work[number] = number, threading.current_thread()
        try:
            return function(*args)
        finally:
            JOB.number = before
            del self._at_work[number]

    async def turn(self, label: str) -> None:
        """Wait in this task until the loop is idle and the call is chosen."""
        turn = _TaskTurn(self, next(self._asked), label)
        self._turns.append(turn)
        try:
            await turn.taken
        finally:
            if turn in self._turns:  # the task was cancelled
                self._turns.remove(turn)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Like asyncio's method; during it, sleeping threads move the clock, and timers do not.

        After a limit it does not wait: sleepers are stopped, and hung threads are left.
        """
        if self._stopped:
            self._stop_threads()
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
        """Like asyncio's method; the threads of a run that was stopped at a limit end."""
        if self._stopped and not self.is_closed():
            self._stop_threads()
        super().close()

    def _stop_threads(self) -> None:
        """Stop threads that wait, now, and those that compute at their next wait: it would move the
        clock of a later run."""
        abandoned.update(self._at_work.values())
        self._clock.keeper.stop()

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
        timer_us, keeper = self._next_timer_us(), self._clock.keeper
        alone = timer_us is not None and not self._turns
        if alone and not self._under_way() and keeper.is_alone():
            assert timer_us is not None
            self._clock.pass_until(timer_us, "loop")
            return []
        wait = _LoopWait(self, timer_us)
        with self._in_line():
            keeper.wait(wait)
        return wait.events

    @contextmanager
    def _in_line(self) -> Iterator[None]:
        """Let the calls of tasks wait for their turn while the loop is idle, and in no other time:
        a loop that works could not let the chosen one go on."""
        turns = tuple(self._turns)
        for turn in turns:
            turn.until_us = self._clock.now_us()
            self._clock.keeper.enter(turn)
        try:
            yield
        finally:
            for turn in turns:
                self._clock.keeper.leave(turn)
            for turn in filter(_is_woken, turns):
                self._turns.remove(turn)
                turn.take()

    def _under_way(self) -> bool:
        self._children = [child for child in self._children if child.get_returncode() is None]
        files = len(self._virtual_selector.get_map()) > self._own_files
        return files or bool(self._children) or bool(self._elsewhere)

    def _next_timer_us(self) -> int | None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        if self._only_threads or not timers:
            return None
        return self._clock.moment_us(timers[0].when())

    def _look(self) -> None:
        if self._check is not None:
            self._check()


class _LoopWait(Wait):
    """A loop without a ready task; an event ends its wait as its timer does."""

    def __init__(self, loop: VirtualEventLoop, until_us: int | None) -> None:
        super().__init__(LOOP, until_us, "loop", label="timer of an event loop")
        self._loop, self._meter = loop, RealWaitMeter()
        self.events: _Events = []

    @property
    def is_over(self) -> bool:
        return self.woken or bool(self.events) or any(map(_is_woken, self._loop._turns))

    def rest(self, real_s: float) -> None:
        if self.is_over:
            return
        if real_s < _EPOLL_S:
            real_sleep(real_s)
            real_s = 0
        self.events = self._loop._virtual_selector.wait(real_s)

    def poke(self) -> None:
        self._loop._look_again()

    def holds(self) -> bool:
        return self._loop._under_way() and self._meter.waited_s < PATIENCE_S

    def check(self) -> None:
        self._loop._look()

    def pool(self) -> Collection[int] | None:
        if not self._loop._only_threads:
            return None
        threads = getattr(self._loop._own_executor, "_threads", ())
        return {thread.ident for thread in threads}


class _TaskTurn(Wait):
    """A call of a task in line; its loop looks after the clock for it."""

    can_lead = False

    def __init__(self, loop: VirtualEventLoop, number: int, label: str) -> None:
        super().__init__(CALL, None, "transport", f"task {number:09}", label)
        self._loop = loop
        self.taken: asyncio.Future[None] = loop.create_future()

    def poke(self) -> None:
        self._loop._look_again()

    def take(self) -> None:
        """Let the task go on, or end it with its run."""
        if self.taken.done():
            return
        if self.stopped:
            self.taken.set_exception(RunStopped(self._loop._clock.keeper.why))
        else:
            self.taken.set_result(None)


def _is_woken(turn: Wait) -> bool:
    return turn.woken


async def task_turn(clock: VirtualClock, label: str) -> bool:
    """Wait for the turn of a call in this task, where the run names orders; False elsewhere.

    trio is not asked: it shuffles what is ready by itself.
    """
    if clock.keeper.choices is None:
        return False
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    if not isinstance(loop, VirtualEventLoop):
        return False
    await loop.turn(label)
    return True


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
