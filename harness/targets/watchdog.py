"""A heartbeat beside a run: it measures the run, and stops it when it exceeds a limit.

A Python target is stopped by an exception in its thread. In the main thread a signal also ends a
blocking system call. Neither ends a single long call into C: the exception waits for its return.

Processor time counts up to `limits.real_s`. Silence counts while the target neither calls nor
computes, and our own heartbeat is on time. A target that stands in line for a processor, behind
other programs, is not silent. A late heartbeat means a slow machine, so that time does not count.
"""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

from harness.clock import real_monotonic
from harness.clock.meter import REAL_WAIT_LIMIT_S
from harness.core.values.errors import InputError, PassedLimit
from harness.processes.life_signs import SIGNS
from harness.processes.resource_usage import OfRun, Usage
from harness.processes.thread_states import RunThreads
from harness.processes.thread_times import BackgroundThread, add_late
from harness.targets.crash_trace import open_waits
from harness.targets.process_exits import start_folder

Stop = Literal["hung", "computes", "loops", "backs_off", "memory", "slow"]
STOPS: tuple[Stop, ...] = get_args(Stop)

LATE_S = 0.5
"""A heartbeat that is later than this comes from a machine that is too slow to judge silence."""

COMPUTING = 0.05
"""The share of processor time from which a target computes."""

RETRY_PAUSE = 3
"""The factor of allowed silence after a failed answer, because it may be a back-off."""

RUN = 10
"""A run without rest may take this many times `limits.real_s` of real time."""

LOOP_CALLS = 10
"""The number of calls, in the last half of its time, from which a target loops."""

START_S = 60.0
"""The extra seconds of a program until its first call, because it loads its code."""


class Beat(NamedTuple):
    """The activity since the last beat.

    `late_s` is the delay of the heartbeat, without the target's processor time. `in_line_s` is the
    time in which threads of the target were ready, but not on a processor. `calls` counts all calls
    so far. `served`: an answer of the harness is being sent. `failed`: the last answer was an
    error.
    """

    wall_s: float
    cpu_s: float
    late_s: float = 0.0
    memory_mb: float = 0.0
    calls: int = 0
    served: bool = False
    failed: bool = False
    in_line_s: float = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether the target computes, or would on a machine without other work."""
        return self.cpu_s + self.in_line_s >= COMPUTING * self.wall_s


class Liveness:
    """The counts of one run, or of one attempt.

    `calls` is the number of calls before the attempt. `start_s` is the allowance before its first
    call.
    """

    def __init__(
        self, real_s: float, memory_mb: float, *, start_s: float = 0.0, calls: int = 0
    ) -> None:
        self._real_s, self._memory_mb, self._start_s = real_s, memory_mb, start_s
        self._first = self._calls = self._calls_before_half = calls
        self._cpu_s = self._silent_s = self._slow_s = self._total_s = self._pauses_s = 0.0
        self._worst_late_s, self._late_beats, self._failed = 0.0, 0, False

    @property
    def silent_s(self) -> float:
        """How long the target is silent by now, in seconds."""
        return self._silent_s

    def beat(self, beat: Beat) -> Stop | None:
        """Count a beat; return the name of the limit that it exceeds, if any."""
        called = beat.calls != self._calls
        if called and self._calls == self._first:
            self._cpu_s = self._total_s = 0.0  # the allowance for the start ends here
        self._cpu_s += beat.cpu_s
        if called or beat.served or beat.is_busy:
            self._rest()
        if not called and not beat.served:
            self._quiet(beat)
        self._calls, self._failed = beat.calls, beat.failed
        if max(self._cpu_s / self._allowed_s, self._total_s / RUN / self._real_s) < 0.5:
            self._calls_before_half = beat.calls
        return self._passed(beat)

    def _rest(self) -> None:
        """End the count of silence."""
        if self._failed:
            self._pauses_s += self._silent_s
        self._silent_s = self._slow_s = self._worst_late_s = 0.0
        self._late_beats = 0

    def _quiet(self, beat: Beat) -> None:
        own_s = max(0.0, beat.wall_s - beat.in_line_s)
        self._total_s += own_s if beat.late_s <= LATE_S else 0.0
        # What computes is not silent: the limit of processor time ends it, however slow it is.
        if beat.is_busy:
            return
        if beat.late_s <= LATE_S:
            self._silent_s += beat.wall_s
            return
        # An hour of sleep of the machine counts as one late beat.
        self._slow_s += min(beat.wall_s, self._real_s / 5)
        self._late_beats += 1
        self._worst_late_s = max(self._worst_late_s, beat.late_s)

    @property
    def _allowed_s(self) -> float:
        """Return how much processor time the target may have used by now."""
        return self._real_s + (self._start_s if self._calls == self._first else 0.0)

    @property
    def _silence_s(self) -> float:
        """Return how long the target may be silent now."""
        return self._allowed_s * (RETRY_PAUSE if self._failed else 1)

    def _passed(self, beat: Beat) -> Stop | None:
        if beat.memory_mb > self._memory_mb:
            return "memory"
        if self._cpu_s >= self._allowed_s:
            return "loops" if self._calls - self._calls_before_half >= LOOP_CALLS else "computes"
        if self._silent_s >= self._silence_s:
            return "hung"
        if self._slow_s >= self._silence_s:
            return "slow"
        if self._total_s >= RUN * self._allowed_s:
            return self._restless
        return None

    @property
    def _restless(self) -> Stop:
        if self._pauses_s + (self._silent_s if self._failed else 0.0) >= self._total_s / 2:
            return "backs_off"
        return "loops" if self._calls > self._calls_before_half else "computes"

    def words(self, stop: Stop) -> str:
        """Return a sentence on an exceeded limit, with numbers that are the same in each run."""
        of = f"limits.real_s is {self._real_s:g}"
        match stop:
            case "memory":
                return f"the target took more memory than limits.memory_mb = {self._memory_mb:g}"
            case "computes":
                return f"it used {self._allowed_s:g} s of processor time and called little ({of})"
            case "loops":
                # No more than this is known: a slow agent with a far bound looks the same.
                return f"it still called when its time was over ({of}; --real-s allows more)"
            case "backs_off":
                text = f"its pauses after failed answers fill {RUN * self._real_s / 2:g} s or more"
                return f"{text} of real time ({of}; --real-s allows more)"
            case "hung":
                after = " after a failed answer" if self._failed else ""
                return f"it neither called nor computed for {self._silence_s:g} s{after} ({of})"
            case "slow":
                return (
                    f"this machine: too slow: the target was silent, and our heartbeat was late "
                    f"{self._late_beats} times, by up to {self._worst_late_s:.1f} s "
                    f"(on time is within {LATE_S:g} s; {of}); play fewer runs at once (-j)"
                )


BEAT_S = 0.1

SILENCE_S = REAL_WAIT_LIMIT_S / 2
"""After a silence of this length it is noted where the target stands. Two waits that are shorter
seldom make a run unknown."""

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
    target may swallow the first stop. `on_silence` is called once in each silence of `SILENCE_S`.
    `silent_s` is how long the target is silent by now.
    """

    def __init__(
        self,
        liveness: Callable[[], Liveness],
        usage: Callable[[], Usage],
        seams: Seams,
        on_stop: Callable[[Stop, str], None],
        *,
        on_silence: Callable[[], None] = lambda: None,
        beat_s: float = BEAT_S,
    ) -> None:
        self._new, self._usage, self._seams, self._on_stop = liveness, usage, seams, on_stop
        self._on_silence = on_silence
        self._beat_s, self.silent_s = beat_s, 0.0
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
            SIGNS.beat()
            now, using = real_monotonic(), self._used(used)
            wall_s, cpu_s = now - before, max(0.0, using.cpu_s - used.cpu_s)
            seams, late_s = self._seams, wall_s - self._beat_s - cpu_s
            in_line_s = max(0.0, using.in_line_s - used.in_line_s)
            add_late(max(0.0, late_s))
            before, used, silent_s = now, using, counts.silent_s
            stop = counts.beat(
                Beat(
                    wall_s, cpu_s, late_s, using.memory_mb,
                    seams.calls, seams.under_way > 0, seams.failed, in_line_s,
                )
            )  # fmt: skip
            self.silent_s = counts.silent_s
            if silent_s < SILENCE_S <= counts.silent_s:
                self._on_silence()
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
def watched(
    real_s: float, memory_mb: float, seams: Seams, waits: list[str] | None = None
) -> Iterator[Check]:
    """Raise PassedLimit in this block, in this thread, when the run exceeds a limit.

    If a thread may wait where no exception reaches it, call the function that the block gets.
    `waits` takes the places where the last silence found the run.
    """
    interrupt, threads, folder = _interrupt(), RunThreads(), start_folder()
    passed: list[PassedLimit] = []

    def check() -> None:
        if passed:
            raise passed[-1]

    def note() -> None:
        if waits is not None:
            waits[:] = open_waits(threads.others(), folder)

    def stop(which: Stop, text: str) -> None:
        if which == "hung":
            note()
        SIGNS.stop(1 + STOPS.index(which))
        passed.append(PassedLimit(text, which))
        interrupt()

    beat_s = min(BEAT_S, real_s / 5)
    with _raising(passed):
        dog = Watchdog(
            lambda: Liveness(real_s, memory_mb), OfRun(), seams, stop,
            on_silence=note, beat_s=beat_s,
        )  # fmt: skip
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
