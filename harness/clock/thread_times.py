"""How long the threads of this process, and its children, stood in line for a processor.

A thread that waits for another one sleeps. So only the times of all threads together tell a busy
machine from a real wait: the other one may be ready, while other programs have the processors.

Linux counts this time for each thread (`schedstat`: nanoseconds on a processor, then in line). A
system without it shows only how late the harness's own heartbeat comes; that stands for it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

_Thread = tuple[int, int]
"""A process and a thread of it, by their numbers."""

_own: set[int] = set()
"""Threads of the harness that work beside the run, by their kernel number."""


class _WaitingLine:
    """Adds up the times of threads that come and go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[_Thread, float] = {}
        self._ended_s = self._late_s = 0.0

    def total_s(self) -> float:
        """Return seconds that only grow; the difference of two is the time in between."""
        with self._lock:
            read = dict(_times())
            for thread, before_s in self._last.items():
                # A smaller count is that of a new thread with the number of an ended one.
                if read.get(thread, -1.0) < before_s:
                    self._ended_s += before_s
            self._last = read
            return self._ended_s + (sum(read.values()) if read else self._late_s)

    def add_late(self, late_s: float) -> None:
        """Count a late heartbeat, for a system that counts nothing itself."""
        with self._lock:
            self._late_s += late_s


_line = _WaitingLine()


def _begin_anew() -> None:
    """Forget the threads of the parent, and its lock, which one of them may hold."""
    global _line
    _line = _WaitingLine()
    _own.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def in_line_s() -> float:
    """Return seconds in which threads of this process were ready but not on a processor.

    A child process is work of this one, so its time on a processor counts too.
    """
    return _line.total_s()


def add_late(late_s: float) -> None:
    """Tell how late a heartbeat was, in seconds."""
    _line.add_late(late_s)


def leave_out() -> None:
    """Leave out the calling thread: it works for the harness, beside the run."""
    _own.add(threading.get_native_id())


def processor_s(thread: threading.Thread) -> float:
    """Seconds that a thread of this process was on a processor; 0 if unknown."""
    return _schedstat(f"/proc/self/task/{thread.native_id}")[0]


def thread_in_line_s(thread: threading.Thread) -> float:
    """Seconds that a thread of this process was ready but not running; 0 if unknown."""
    return _schedstat(f"/proc/self/task/{thread.native_id}")[1]


def own_in_line_s() -> float:
    """Seconds that the calling thread was ready but not running; 0 if unknown."""
    return _schedstat("/proc/thread-self")[1]


def process_in_line_s(pid: int) -> float:
    """Seconds that the living threads of a process were ready but not running; 0 if unknown."""
    return sum(times[1] for _, times in _threads(pid))


def _times() -> Iterator[tuple[_Thread, float]]:
    """Yield the threads of this process with their time in line, then those of its children."""
    me = os.getpid()
    for task, (_, ready_s) in _threads(me):
        if task not in _own:
            yield (me, task), ready_s
    for child in _children(me):
        for task, (running_s, ready_s) in _threads(child):
            yield (child, task), running_s + ready_s


def _threads(pid: int) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield each thread of a process with its seconds on a processor and in line."""
    for name in _listed(f"/proc/{pid}/task"):
        yield int(name), _schedstat(f"/proc/{pid}/task/{name}")


def _children(pid: int) -> Iterator[int]:
    """Yield the children of a process, and theirs."""
    for name in _listed(f"/proc/{pid}/task"):
        for child in map(int, read(f"/proc/{pid}/task/{name}/children").split()):
            yield child
            yield from _children(child)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # the process has ended, or the system has no such folder
        return []


def _schedstat(folder: str) -> tuple[float, float]:
    words = read(f"{folder}/schedstat").split()
    return (int(words[0]) / 1e9, int(words[1]) / 1e9) if len(words) > 1 else (0.0, 0.0)


def read(path: str) -> bytes:
    """Read a kernel file unbuffered, because each call of the run does this; b"" without it."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 4096)
    except OSError:  # the thread has ended in between
        return b""
    finally:
        os.close(file)
