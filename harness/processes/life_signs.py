"""What a process that plays runs tells its owner, in shared memory, and when the owner kills it.

A target may swallow each exception that stops it, or hold the interpreter in one call of C. Then no
thread of its process can end the run, and only another process can. Shared memory stays when the
target closes all descriptors, and costs nothing at each beat.
"""

from __future__ import annotations

import ctypes
import multiprocessing.sharedctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.processes import proc

KILLED_AT = 3
"""The process of a run is killed at this many times `limits.real_s`.

A run that was stopped, and goes on, has used one time by then. A run without a sign of life, whose
process computes or is silent, has used none."""

LOOK_S = 0.5
"""The interval, in seconds, at which an owner looks at a process."""

AT_LEAST_S = 1.0
"""The least time that a stopped run has to end, for very small limits."""

_LIMIT_S, _RUN, _BEATS, _STOP = range(4)
_PDEATHSIG = 1


class LifeSigns:
    """The signs of one process; they can be sent to a process as it starts."""

    def __init__(self) -> None:
        self._memory: Any = multiprocessing.sharedctypes.RawArray("d", 4)

    def begin(self, limit_s: float) -> None:
        """Tell that a run begins that has this limit."""
        self._memory[_STOP] = 0
        self._memory[_RUN] += 1
        self._memory[_LIMIT_S] = limit_s

    def beat(self) -> None:
        """Tell that the run's heartbeat still has its turns."""
        self._memory[_BEATS] += 1

    def stop(self, number: int) -> None:
        """Tell that the run was stopped, by the reason of this number, from 1."""
        self._memory[_STOP] = number

    def end(self) -> None:
        """Tell that the run is over."""
        self._memory[_LIMIT_S] = 0

    def move_to(self, other: LifeSigns) -> None:
        """Write from now on into the memory of other signs."""
        self._memory = other._memory

    def read(self) -> tuple[float, ...]:
        """Return the limit in seconds (0 between runs), the runs, the beats and the last stop."""
        return tuple(self._memory)


SIGNS = LifeSigns()
"""The signs of this process; no process reads them until an owner is told."""


def tell(owner: LifeSigns) -> None:
    """Write the signs of this process where its owner reads them."""
    SIGNS.move_to(owner)


@contextmanager
def playing(limit_s: float) -> Iterator[None]:
    """In this block this process plays a run."""
    SIGNS.begin(limit_s)
    try:
        yield
    finally:
        SIGNS.end()


class Overseer:
    """Reads the signs of a process, again and again, until it is overdue."""

    def __init__(self, pid: int, told: LifeSigns) -> None:
        self._pid, self._signs = pid, told
        self._seen: tuple[float, ...] = ()
        self._looked_s, self._computed_s = time.monotonic(), 0.0
        self.computed_s = self.silent_s = 0.0

    def is_overdue(self) -> bool:
        """Whether the run of the process has taken too long; call it every `LOOK_S`."""
        limit_s, run, beats, stop = self._signs.read()
        now_s, computed_s = time.monotonic(), processor_s(self._pid)
        wall_s, used_s = now_s - self._looked_s, max(0.0, computed_s - self._computed_s)
        self._looked_s, self._computed_s = now_s, computed_s
        seen = (run, -1.0 if stop else beats)
        if not limit_s or seen != self._seen:
            self._seen, self.computed_s, self.silent_s = seen, 0.0, 0.0
            return False
        self.computed_s += used_s
        # A machine that slept, or an owner that was busy, is one look. A process in line for a
        # processor is not silent.
        if used_s < 0.05 * wall_s and not is_ready(self._pid):
            self.silent_s += min(wall_s, 2 * LOOK_S)
        times = KILLED_AT - 1 if stop else KILLED_AT
        return self.computed_s + self.silent_s >= max(times * limit_s, AT_LEAST_S)

    @property
    def stop(self) -> int:
        """The number of the reason for which the run was stopped; 0 for none."""
        return int(self._signs.read()[_STOP])


def processor_s(pid: int) -> float:
    """Seconds that a process was on a processor; 0 where `/proc` does not tell."""
    return sum(map(int, proc.stat(str(pid))[11:13])) / os.sysconf("SC_CLK_TCK")


def is_ready(pid: int) -> bool:
    """Whether a thread of a process is on a processor, or in line for one."""
    tasks = proc.numbers(f"/proc/{pid}/task")
    return any(proc.stat(f"{pid}/task/{task}")[:1] == [b"R"] for task in tasks)


def end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends by any means.

    Call it in a forked child. Only Linux has this; elsewhere a child that holds its interpreter in
    a call of C outlives a killed harness. Raises nothing.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended in between
            os.kill(os.getpid(), signal.SIGKILL)
