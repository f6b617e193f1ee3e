"""How long a run really waited where virtual time could not see it.

Three shares of the wall clock are no waits: the processor's, the harness's own, and the time in
which other programs had the processor. The rest is a real wait: a `queue.get(timeout)`, a socket, a
kept `sleep`. Virtual time says nothing about such a run, and so it is unknown, never passed. A wait
for the disk looks the same, so the time in which programs of this machine stood still for their
disks is not held against a run.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

REAL_WAIT_LIMIT_S = 1.0
"""More real waiting than this outside the harness makes a run `unknown: real wait`."""


class RealWaitMeter:
    """A context manager around a run; `waited_s` can be read during it and after it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = self._now()
        self._ended: float | None = None
        self._inside = 0
        self._entered = 0.0
        self._harness_s = self._stalled_s = self._stalled_before_s = 0.0

    def __enter__(self) -> Self:
        self._began, self._ended, self._harness_s = self._now(), None, 0.0
        self._stalled_s, self._stalled_before_s = 0.0, _stalled_s()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended = self._now()
        self._stalled_s = _stalled_s() - self._stalled_before_s

    @contextmanager
    def harness_time(self) -> Iterator[None]:
        """Time in this block is the harness's own; blocks that overlap count once."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._entered = self._now()
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._harness_s += self._now() - self._entered

    @property
    def waited_s(self) -> float:
        """Real seconds outside the harness in which the process did not compute; never negative."""
        now = self._now() if self._ended is None else self._ended
        return max(0.0, now - self._began - self._harness_s)

    @property
    def exceeded(self) -> bool:
        """Whether the run waited so long that virtual time says nothing about it. What the disks
        took of it is known once the run is over."""
        return self.waited_s - self._stalled_s > REAL_WAIT_LIMIT_S

    @staticmethod
    def _now() -> float:
        # All at once: a block of the harness takes its processor time out of the reckoning too.
        return time.perf_counter() - time.process_time() - _ready_s()


def _ready_s() -> float:
    """Seconds in which this thread was ready and did not run; 0 where the system does not say.

    Linux tells it in nanoseconds, as the second of the three numbers of `schedstat`.
    """
    try:
        return int(_read("/proc/thread-self/schedstat").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _stalled_s() -> float:
    """Seconds in which some program of this machine stood still for a disk; 0 where the system does
    not say.

    Linux tells it as pressure, in microseconds since it was started.
    """
    try:
        return int(_read("/proc/pressure/io").split(b"total=")[1].split()[0]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


def _read(path: str) -> bytes:
    """The beginning of a file that the kernel makes; the quick way, for each call does this."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 200)
    finally:
        os.close(file)
