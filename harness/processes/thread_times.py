"""How long the threads of this process, and its children, stood in line for a processor.

A thread that waits for another one sleeps. So only the times of all threads together tell a busy
machine from a real wait: the other one may be ready, while other programs have the processors.

Linux counts this time for each thread. A system without it shows only how late the harness's own
heartbeat comes; that stands for it. The threads of the harness itself are left out.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

from harness.processes.machine import own_call
from harness.processes.proc import descendants, schedstat, threads

_Thread = tuple[int, int]
"""A process and a thread of it, by their numbers."""


class _WaitingLine:
    """Adds up the times of threads that come and go."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget the threads of the parent, and its lock, which one of them may hold."""
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

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_line.begin_anew)


in_line_s = _line.total_s
"""Returns seconds in which threads of this process were ready but not on a processor.

A child process is work of this one, so its time on a processor counts too."""

add_late = _line.add_late
"""Tells how late a heartbeat was, in seconds."""


def left_out() -> set[int]:
    """The threads that work for the harness, beside the run, by their kernel number.

    They are read each time: the system gives the number of an ended thread to another one
    (after 32,768 on many machines). A set that only grew took a late thread of a run for one of
    the harness; the clock then moved while that thread worked.
    """
    own = (thread for thread in threading.enumerate() if isinstance(thread, BackgroundThread))
    return {thread.native_id for thread in own if thread.native_id is not None}


def processor_s(thread: threading.Thread) -> float:
    """Seconds that a thread of this process was on a processor; 0 if unknown."""
    return schedstat(f"/proc/self/task/{thread.native_id}")[0]


def thread_in_line_s(thread: threading.Thread) -> float:
    """Seconds that a thread of this process was ready but not running; 0 if unknown."""
    return schedstat(f"/proc/self/task/{thread.native_id}")[1]


def own_in_line_s() -> float:
    """Seconds that the calling thread was ready but not running; 0 if unknown."""
    return schedstat("/proc/thread-self")[1]


def process_in_line_s(pid: int) -> float:
    """Seconds that the living threads of a process were ready but not running; 0 if unknown."""
    return sum(times[1] for _, times in threads(pid))


def _times() -> Iterator[tuple[_Thread, float]]:
    """Yield the threads of this process with their time in line, then those of its children."""
    me, apart = os.getpid(), left_out()
    for task, (_, ready_s) in threads(me):
        if task not in apart:
            yield (me, task), ready_s
    for child in descendants(me):
        for task, (running_s, ready_s) in threads(child):
            yield (child, task), running_s + ready_s


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGIO, signal.SIGALRM)
"""The signals by which this process, or a run, is ended."""


class BackgroundThread(threading.Thread):
    """A daemon thread of the harness, which leaves the signals to the main thread.

    Linux hands a signal of the process to any thread that does not block it. Python then notes it,
    but a main thread that waits in the kernel goes on waiting: Ctrl-C would be taken when the wait
    is over.
    """

    def start(self) -> None:
        """Start it. Raises MachineLacks if the system has no thread left."""
        with own_call():
            super().start()

    def run(self) -> None:
        """Do the work, with these signals blocked; its time is not the run's."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
        super().run()


def has_other_threads() -> bool:
    """Whether Python threads run beside the calling one that are not the harness's."""
    beside = set(threading.enumerate()) - {threading.current_thread()}
    return not all(isinstance(thread, BackgroundThread) for thread in beside)
