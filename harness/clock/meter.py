"""The real waits of a run that virtual time does not see.

Processor time, the harness's own time, and time when other programs had the processor are not
waits. A real wait (`queue.get(timeout)`, a socket) makes a run unknown. Time when programs of this
machine stalled on a disk is subtracted, because a disk wait looks the same.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

REAL_WAIT_LIMIT_S = 1.0
"""The real wait, in seconds, above which a run is `unknown: real wait`."""


class RealWaitMeter:
    """A context manager around a run; `waited_s` can be read during and after the run."""

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
        """Count the time in this block as the harness's own; overlapping blocks count once."""
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
        """Real seconds, outside the harness, without computing of this process; never negative."""
        now = self._now() if self._ended is None else self._ended
        return max(0.0, now - self._began - self._harness_s)

    @property
    def exceeded(self) -> bool:
        """Whether the run waited so long that virtual time proves nothing about it. The share of
        the disks is known after the run."""
        return self.waited_s - self._stalled_s > REAL_WAIT_LIMIT_S

    @staticmethod
    def _now() -> float:
        # One expression: a block of the harness subtracts its processor time too.
        return time.perf_counter() - time.process_time() - _ready_s()


def processor_s(thread: threading.Thread) -> float:
    """Seconds that a thread of this process was on a processor; 0 if unknown."""
    try:
        return int(_read(f"/proc/self/task/{thread.native_id}/schedstat").split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _ready_s() -> float:
    """Seconds ready but not running (second number of `schedstat`, in ns); 0 if unknown."""
    try:
        return int(_read("/proc/thread-self/schedstat").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _stalled_s() -> float:
    """Seconds the machine stalled on a disk (Linux pressure, µs since boot); 0 if unknown."""
    try:
        return int(_read("/proc/pressure/io").split(b"total=")[1].split()[0]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


def _read(path: str) -> bytes:
    """Unbuffered read of a kernel file, because each call of the run does this."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 200)
    finally:
        os.close(file)
