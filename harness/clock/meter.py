"""The real waits of a run that virtual time does not see.

Processor time, the harness's own time, and time when any thread of the run was ready but other
programs had the processor are not waits. A real wait (`queue.get(timeout)`, a socket) makes a run
unknown. Time when programs of this machine stalled on a disk is subtracted, because a disk wait
looks the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from harness.processes import proc, thread_times

REAL_WAIT_LIMIT_S = 1.0
"""The real wait, in seconds, above which a run is `unknown: real wait`."""

LOADED_FACTOR = 10
"""How many times as long a bound of real time is at most on a loaded machine. Several threads may
stand in line at once, so their time alone does not bound it."""


class RealWaitMeter:
    """A context manager around a run; `waited_s` can be read during and after the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began, self._ended = self._now(), 0.0
        self._is_over = False
        self._inside = 0
        self._entered: tuple[float, int, float] = (0.0, 0, 0.0)
        self._harness_s = self._stalled_s = self._stalled_before_s = 0.0

    def __enter__(self) -> Self:
        self._began, self._is_over, self._harness_s = self._now(), False, 0.0
        self._stalled_s, self._stalled_before_s = 0.0, _stalled_s()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended, self._is_over = self._now(), True
        self._stalled_s = _stalled_s() - self._stalled_before_s

    @contextmanager
    def harness_time(self) -> Iterator[None]:
        """Count the time in this block as the harness's own; overlapping blocks count once."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._entered = _edge()
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._harness_s += _between(self._entered, _edge())

    @property
    def waited_s(self) -> float:
        """Real seconds, outside the harness, in which no thread of the run computed or could have
        computed; never negative."""
        now = self._ended if self._is_over else self._now()
        return max(0.0, now - self._began - self._harness_s)

    @property
    def exceeded(self) -> bool:
        """Whether the run waited so long that virtual time proves nothing about it. The share of
        the disks is known after the run."""
        return self.waited_s - self._stalled_s > REAL_WAIT_LIMIT_S

    @staticmethod
    def _now() -> float:
        return _not_computing_s() - thread_times.in_line_s()


class Patience:
    """A bound of real time, less the time in which threads stood in line for a processor.

    On a machine that other programs load, a call would otherwise lose its turn, and the order of
    calls would be the machine's: seen with trio under a load of six programs a processor.
    """

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._began_s, self._in_line_s = time.perf_counter(), thread_times.in_line_s()

    @property
    def is_over(self) -> bool:
        """Whether the bound is reached."""
        real_s = time.perf_counter() - self._began_s
        if real_s <= self._most_s:
            return False
        in_line_s = thread_times.in_line_s() - self._in_line_s
        return real_s - in_line_s > self._most_s or real_s > self._most_s * LOADED_FACTOR


def _not_computing_s() -> float:
    # One expression: a block of the harness subtracts its processor time too.
    return time.perf_counter() - time.process_time()


def _edge() -> tuple[float, int, float]:
    """Return an edge of a harness block: the time, the thread, and its time in line.

    To read all threads costs 15 µs each, at each call of a run; the calling thread is enough here.
    """
    return _not_computing_s(), threading.get_ident(), thread_times.own_in_line_s()


def _between(first: tuple[float, int, float], last: tuple[float, int, float]) -> float:
    in_line_s = last[2] - first[2] if first[1] == last[1] else 0.0
    return last[0] - first[0] - in_line_s


def _stalled_s() -> float:
    """Seconds the machine stalled on a disk (Linux pressure, µs since boot); 0 if unknown."""
    try:
        return int(proc.read("/proc/pressure/io").split(b"total=")[1].split()[0]) / 1e6
    except (IndexError, ValueError):
        return 0.0
