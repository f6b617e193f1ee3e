"""Virtual time: a clock as a value, and the one patch that shows it to synchronous code.

Time counts whole microseconds, so waits add up without rounding. Only waits move the monotonic
clock. It starts at one day, because programs use 0 for "never". A `jump` (NTP) moves the wall
clock.

Dates follow by `wall_dates`. The patch misses functions kept *before* the run, and waits inside C;
`RealWaitMeter` measures real waits. The modules in `_STAY_REAL` keep real time, because they would
hang or spin on a stopped clock.
"""

from __future__ import annotations

import math
import queue  # noqa: F401  imported now, so that it keeps the real monotonic clock
import sched  # noqa: F401
import socketserver  # noqa: F401
import subprocess  # noqa: F401
import sys
import threading
import time
from _thread import _count as started_threads
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol
from weakref import WeakSet

import msgspec

from harness.clock.choices import Choices
from harness.clock.real_clock import Source, real_sleep
from harness.clock.timekeeper import CALL, SLEEP, TURN_S, YIELD, Timekeeper, Wait
from harness.clock.wall_dates import REAL, WallDates
from harness.core.values.errors import RunStopped
from harness.core.values.orders import Order
from harness.processes.thread_states import pool_threads

MICROSECONDS = 1_000_000
READING_NS, MOST_AHEAD_NS = 100, 999_900
"""How much later each reading in nanoseconds is, about as on a machine, and how far all of them."""
UPTIME_S = 86_400
EPOCH_S = 1_767_225_600
"""The wall clock at the start of a virtual run: 2026-01-01T00:00:00Z."""

abandoned: WeakSet[threading.Thread] = WeakSet()
"""Threads of runs that were stopped at a limit. They must not move the clock of a later run."""


class Clock(Protocol):
    """The clock of a target and a transport."""

    def now_ms(self) -> int:
        """Milliseconds since the run began; never goes back."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def sleep(self, seconds: float) -> None:
        """Wait in this thread."""

    async def asleep(self, seconds: float) -> None:
        """Wait in this task."""


class VirtualWait(msgspec.Struct, frozen=True):
    """One wait in virtual time: its start, its length, and its source.

    `source` is `sleep`, `loop` or `transport`. `sleep`: a thread slept. `loop`: every task of an
    event loop waited, and its clock jumped to the next timer. `transport`: a scripted wait of the
    harness itself.
    """

    at_ms: int
    seconds: float
    source: Source


class VirtualClock:
    """Time that passes only during waits. Threads may share it.

    `start_ms` is the first reading of the run's clock; a restarted target continues at its last
    reading. `epoch_s` is the wall clock at 0 ms. A wait that would end more than `limit_s` seconds
    after the run's start stops the clock at the limit and raises `RunStopped`. Otherwise a program
    that only waits would never end. `seed` draws who of several threads wakes first at one moment;
    with `orders`, that is a choice.
    """

    def __init__(
        self,
        start_ms: int = 0,
        epoch_s: int = EPOCH_S,
        *,
        limit_s: float | None = None,
        seed: int | None = None,
        orders: Iterable[Order] | None = None,
    ) -> None:
        self.waits: list[VirtualWait] = []
        self._lock = threading.Lock()
        self._now_us = start_ms * 1000
        self._wall_offset_us = epoch_s * MICROSECONDS
        self._uptime_us = UPTIME_S * MICROSECONDS
        self._read_ns = -READING_NS
        self._limit_s = limit_s
        self._dates = WallDates()
        choices = None if orders is None else Choices(orders)
        self.keeper = Timekeeper(self.pass_until, self._reaches, seed, choices)

    def now_us(self) -> int:
        """Microseconds since the run began."""
        return self._now_us

    def now_ms(self) -> int:
        """Milliseconds since the run began."""
        return self._now_us // 1000

    def monotonic(self) -> float:
        """Seconds, `UPTIME_S` at the run's start."""
        return (self._uptime_us + self._now_us) / MICROSECONDS

    def monotonic_ns(self) -> int:
        """`monotonic` in nanoseconds."""
        return (self._uptime_us + self._now_us) * 1000 + self._next_ns()

    def time(self) -> float:
        """The wall clock: seconds since 1970."""
        return self._wall_us / MICROSECONDS

    def time_ns(self) -> int:
        """`time` in nanoseconds."""
        return self._wall_us * 1000 + self._next_ns()

    @property
    def _wall_us(self) -> int:
        return self._wall_offset_us + self._now_us

    def dated(self) -> AbstractContextManager[None]:
        """Let dates follow this clock in the block: `datetime.now()` and the like."""
        return self._dates.shown(self._wall_us)

    def _next_ns(self) -> int:
        """How far a reading is ahead of the run's clock: each is a little later, for a millisecond.

        Programs name their rows by `time_ns`, which never shows one time twice on a real machine.
        Some add a number to it for each row of a batch, and read it again for the next one.
        """
        with self._lock:
            now_ns = self._now_us * 1000
            ahead = min(max(self._read_ns + READING_NS - now_ns, 0), MOST_AHEAD_NS)
            self._read_ns = now_ns + ahead
            return ahead

    def jump(self, wall_ms: int, monotonic_ms: int = 0) -> None:
        """Move the wall clock, forward or back, and the monotonic one, forward.

        This is not a wait: the process stood still. An event loop finds all timers due at once.
        """
        self.advance(monotonic_ms / 1000)
        with self._lock:
            self._wall_offset_us += (wall_ms - monotonic_ms) * 1000
            self._dates.move_to(self._wall_us)

    def pass_downtime(self, milliseconds: int) -> None:
        """Move the agent's two clocks over a time in which no process of it ran.

        The run's clock stands still, so that limits, due times and waits keep their meaning.
        """
        with self._lock:
            self._wall_offset_us += milliseconds * 1000
            self._uptime_us += milliseconds * 1000
            self._dates.move_to(self._wall_us)

    def moment_us(self, monotonic_s: float) -> int | None:
        """A moment of `monotonic` as `now_us` counts; None for a moment that never comes.

        `anyio.sleep_forever` is a timer at infinity on asyncio, and whole numbers have none.
        """
        exact_us = monotonic_s * MICROSECONDS - self._uptime_us
        return round(exact_us) if math.isfinite(exact_us) else None

    def advance(self, seconds: float) -> None:
        """Let time pass without a recorded wait."""
        self._pass(lambda now: now + _microseconds(seconds), None)

    def sleep(self, seconds: float, source: Source = "sleep", label: str = "") -> None:
        """Let time pass, and record the wait; `label` names it at a point of choice.

        A thread beside others stops until all of them wait, and no wait ends before its own. Raises
        ValueError for a negative time, as `time.sleep` does, and RunStopped in a thread of a
        stopped run.
        """
        self._refuse_abandoned()
        duration_us = _microseconds(seconds)
        if self.keeper.is_alone():
            self._pass(lambda now: now + duration_us, source)
            real_sleep(0)
        else:
            kind = SLEEP if duration_us else YIELD
            until_us, name = self._now_us + duration_us, self.keeper.name_of_thread()
            self.keeper.wait(Wait(kind, until_us, source, name, label))

    def take_turn(self, said: Callable[[], str], label: str = "") -> None:
        """Stop a thread beside others until all of them wait; those with less to say go first.

        So threads that call at one moment call in an order that the machine does not decide.
        `label` names the call at a point of choice.
        """
        self._refuse_abandoned()
        # Each call of a run comes here, so the usual case is short.
        seen = threading.get_ident(), started_threads(), *threading.enumerate()
        if seen != self.keeper.alone and not self.keeper.is_alone():
            wait = Wait(CALL, self._now_us, "transport", said(), label)
            if self.keeper.choices is not None:
                wait.worker = self.keeper.name_of_thread()
            self.keeper.wait(wait, TURN_S)

    @staticmethod
    def _refuse_abandoned() -> None:
        if abandoned and threading.current_thread() in abandoned:
            raise RunStopped("the run of this thread was stopped")

    async def asleep(self, seconds: float) -> None:
        """Wait in this task, which an event loop on this clock must be running."""
        import anyio

        await anyio.sleep(seconds)

    def pass_until(self, target_us: int, source: Source) -> None:
        """Let time pass until `now_us() == target_us`; a moment in the past changes nothing.

        For event loops, which use moments instead of durations.
        """
        self._pass(lambda now: target_us, source)

    def _reaches(self, target_us: int) -> bool:
        """Whether a moment is within the limit of the run."""
        return self._within_limit(target_us) == target_us

    def _pass(self, target: Callable[[int], int], source: Source | None) -> None:
        with self._lock:
            before = self._now_us
            wanted = max(before, target(before))
            self._now_us = allowed = self._within_limit(wanted)
            self._dates.move_to(self._wall_us)
            if source is not None and allowed > before:
                seconds = (allowed - before) / MICROSECONDS
                self.waits.append(VirtualWait(before // 1000, seconds, source))
        if allowed < wanted:
            raise RunStopped(f"limits.virtual_s: the run waited past {self._limit_s} s")

    def _within_limit(self, moment_us: int) -> int:
        if self._limit_s is None:
            return moment_us
        return min(moment_us, max(self._now_us, _microseconds(self._limit_s)))


def _microseconds(seconds: float) -> int:
    duration_us = round(seconds * MICROSECONDS)
    if duration_us < 0:
        raise ValueError("sleep length must be non-negative")
    return duration_us


_REAL: dict[str, Callable[..., Any]] = {
    **{name: getattr(time, name) for name in ("sleep", "monotonic", "monotonic_ns")},
    **REAL,
}

_STAY_REAL = frozenset((
    "asyncio.base_events", "asyncio.windows_events", "concurrent.futures._base", "subprocess",
    "multiprocessing.connection", "multiprocessing.managers", "multiprocessing.pool",
    "multiprocessing.queues", "multiprocessing.synchronize",
))  # fmt: skip

_clock: VirtualClock | None = None
_outsiders: frozenset[threading.Thread] = frozenset()
"""Threads that existed before the run and do not work for it: their time is real.

Not their numbers: a new thread of the run gets the number of one that has ended since."""


def clock_of_run() -> VirtualClock | None:
    """The clock that `time` shows at present; None for real time."""
    return _clock


def _stand_in(name: str) -> Callable[..., Any]:
    real = _REAL[name]

    def stand_in(*args: Any) -> Any:
        clock = _clock
        if clock is None or sys._getframe(1).f_globals.get("__name__") in _STAY_REAL:
            return real(*args)
        if threading.current_thread() in _outsiders:
            return real(*args)
        return getattr(clock, name)(*args)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__doc__ = real.__doc__
    return stand_in


_BEFORE = {name: getattr(time, name) for name in _REAL}
_STAND_INS = {name: _stand_in(name) for name in _REAL}


@contextmanager
def virtual_time(
    clock: VirtualClock, *threads: threading.Thread, goes_on: bool = False
) -> Iterator[VirtualClock]:
    """Make the functions of the module `time` use `clock` until the end of the block.

    Time stays real in threads that existed before, except this thread, the given ones, and those of
    pools, which may work for the run. The patch applies to the whole process, and the end of the
    block always removes it. It also ends the waits of threads, unless the run `goes_on` in a later
    block. Raises RuntimeError if another `virtual_time` is active, because a process has only one
    time.
    """
    global _clock, _outsiders
    if _clock is not None:
        how = "leave the first block, or run the second in a separate process"
        raise RuntimeError(f"virtual_time is active already: one process has one time; {how}")
    run = {threading.current_thread(), *threads, *pool_threads(), *abandoned}
    _outsiders = frozenset(t for t in threading.enumerate() if t not in run)
    _clock = clock
    clock.keeper.threads.join(*threads)
    try:
        _install(_STAND_INS)
        with clock.dated(), clock.keeper.running():
            yield clock
    finally:
        _install(_BEFORE)
        if not goes_on:
            clock.keeper.stop()
        _clock, _outsiders = None, frozenset()


def _install(functions: dict[str, Callable[..., Any]]) -> None:
    for name, function in functions.items():
        setattr(time, name, function)
