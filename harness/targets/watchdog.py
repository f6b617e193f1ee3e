"""A heartbeat beside a run: it measures the run, and stops it when it exceeds a limit.

A Python target is stopped by an exception in its thread. In the main thread a signal also ends a
blocking system call. Neither ends a single long call into C: the exception waits for its return.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol, TypeAlias

from harness.clock import real_monotonic
from harness.clock.thread_times import add_late
from harness.core.values.errors import InputError, PassedLimit
from harness.processes.life_signs import signs
from harness.targets.liveness import STOPS, Beat, Liveness, Stop
from harness.targets.resource_usage import OfRun, Usage
from harness.transports.background_thread import BackgroundThread

BEAT_S = 0.1

_SIGNAL = getattr(signal, "SIGURG", None)
"""This signal is ignored by default and rarely used, so a late one does no harm."""


class Seams(Protocol):
    """The activity of a target at the seams."""

    calls: int
    under_way: int

    @property
    def failed(self) -> bool:
        """Whether the last answer is an error."""


class Watchdog:
    """A thread that beats until `close`.

    `on_stop` is called with the exceeded limit, and again each time a limit is exceeded, because a
    target may swallow the first stop.
    """

    def __init__(
        self,
        liveness: Callable[[], Liveness],
        usage: Callable[[], Usage],
        seams: Seams,
        on_stop: Callable[[Stop, str], None],
        *,
        beat_s: float = BEAT_S,
    ) -> None:
        self._new, self._usage, self._seams, self._on_stop = liveness, usage, seams, on_stop
        self._beat_s = beat_s
        self._over = threading.Lock()
        self._over.acquire()
        self._thread = BackgroundThread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the beats."""
        self._over.release()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _beat(self) -> None:
        counts, before, used = self._new(), real_monotonic(), self._used(Usage())
        # A lock and not an event, because time in `threading` may be virtual.
        while not self._over.acquire(timeout=self._beat_s):
            signs().beat()
            now, using = real_monotonic(), self._used(used)
            wall_s, cpu_s = now - before, max(0.0, using.cpu_s - used.cpu_s)
            seams, late_s = self._seams, wall_s - self._beat_s - cpu_s
            in_line_s = max(0.0, using.in_line_s - used.in_line_s)
            add_late(max(0.0, late_s))
            before, used = now, using
            stop = counts.beat(
                Beat(
                    wall_s, cpu_s, late_s, using.memory_mb,
                    seams.calls, seams.under_way > 0, seams.failed, in_line_s,
                )
            )  # fmt: skip
            if stop is not None:
                text, counts = counts.words(stop), self._new()
                self._on_stop(stop, text)
        self._over.release()

    def _used(self, before: Usage) -> Usage:
        """Return the present usage; that of before where no file is left to read it from."""
        with suppress(OSError):
            return self._usage()
        return before


Check: TypeAlias = Callable[[], None]


@contextmanager
def watched(real_s: float, memory_mb: float, seams: Seams) -> Iterator[Check]:
    """Raise PassedLimit in this block, in this thread, when the run exceeds a limit.

    If a thread may wait where no exception reaches it, call the function that the block gets.
    """
    interrupt = _interrupt()
    passed: list[PassedLimit] = []

    def check() -> None:
        if passed:
            raise passed[-1]

    def stop(which: Stop, text: str) -> None:
        signs().stop(1 + STOPS.index(which))
        passed.append(PassedLimit(text, which))
        interrupt()

    beat_s = min(BEAT_S, real_s / 5)
    with _raising(passed):
        dog = Watchdog(lambda: Liveness(real_s, memory_mb), OfRun(), seams, stop, beat_s=beat_s)
        try:
            yield check
        except (KeyboardInterrupt, InputError):
            raise
        except BaseException as error:
            # The exception may have been wrapped, or be the bare class.
            if passed and error is not passed[-1]:
                raise passed[-1] from None
            raise
        finally:
            dog.close()


@contextmanager
def _raising(passed: list[PassedLimit]) -> Iterator[None]:
    """In this block, in the main thread, the signal raises the last exception of `passed`."""
    if _SIGNAL is None or not _in_main_thread():
        yield
        return

    def handler(number: int, frame: FrameType | None) -> None:
        if passed:
            raise passed[-1]

    former = signal.signal(_SIGNAL, handler)
    try:
        yield
    finally:
        signal.signal(_SIGNAL, former)


def _interrupt() -> Callable[[], None]:
    """Return a function that interrupts this thread from another one."""
    thread = threading.get_ident()
    if _SIGNAL is not None and _in_main_thread():
        number = _SIGNAL
        return lambda: signal.pthread_kill(thread, number)
    put = ctypes.pythonapi.PyThreadState_SetAsyncExc
    return lambda: put(ctypes.c_ulong(thread), ctypes.py_object(PassedLimit))


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
