"""Which threads of a run work, and which of them wait.

Linux tells the state of a thread, how often it got a processor, and the system call in which it
sleeps. A lock, a queue, an event and a future are one system call, which only another thread ends.
Any other call waits for the outside: a pipe, a child process, a real pause.

A thread that waits for the interpreter's lock sleeps in the same call. So a thread counts as
waiting only if it got no processor while the caller had let that lock go for a moment.
"""

from __future__ import annotations

import platform
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures.thread import _threads_queues
from typing import Any, Literal, NamedTuple

from harness.processes import proc, thread_times

Doing = Literal["works", "disk", "waits"]

_LOCK_CALL = {"x86_64": b"202", "aarch64": b"98"}.get(platform.machine())
"""The number of `futex`, by which a thread waits for another one; None where it is not known."""

DISTURBED_MOST, LONG_S = 5, 0.012
"""After this number of looks that other threads disturbed, one long pause decides. It lasts two
switch intervals of the interpreter, in which a thread that waits for its lock gets it."""


class Sleeping(NamedTuple):
    """The threads that sleep, each with the number of its turns on a processor."""

    turns: dict[int, int]
    outside: frozenset[int]
    disk: bool
    working: bool


class RunThreads:
    """The threads of a run: those that began after this object, its maker's, and those of pools.

    The harness's own threads, which work beside the run, are left out.
    """

    def __init__(self) -> None:
        pools = {thread.native_id for thread in pool_threads()}
        own = pools | {threading.get_native_id()}
        self._outsiders = {task for task in _tasks() if task not in own}
        self._still: dict[int, int] = {}
        self._disturbed = 0

    def join(self, *threads: threading.Thread) -> None:
        """Count these threads as the run's, although they began before it."""
        self._outsiders -= {thread.native_id for thread in threads}

    def others(self) -> list[int]:
        """The threads of the run beside the calling one, by their kernel number."""
        apart = self._outsiders | thread_times.left_out() | {threading.get_native_id()}
        return [task for task in _tasks() if task not in apart]

    def outside(self) -> frozenset[int]:
        """The threads that wait for what is not a thread."""
        return self._sleeping().outside

    def doing(self, pause: Callable[[], object]) -> Doing:
        """Tell whether the other threads of the run work, wait for a disk, or all wait.

        `pause` really waits for a moment, without the interpreter's lock.
        """
        if not proc.EXISTS:
            return "works" if _uses_processor(pause) else "waits"
        first = self._sleeping()
        if first.working or first.disk:
            return "works" if first.working else "disk"
        if all(self._still.get(task) == turns for task, turns in first.turns.items()):
            return "waits"
        beside = self._beside()
        pause()
        second = self._sleeping()
        if second.working or second.disk or first.turns != second.turns:
            return "disk" if second.disk and not second.working else "works"
        if beside is None or beside != self._beside():
            # A thread that is not the run's may have had the lock instead of one that waits for it.
            self._disturbed += 1
            if self._disturbed <= DISTURBED_MOST:
                return "works"
            _pause_long(pause)
            if self._sleeping().turns != second.turns:
                return "works"
        self._still, self._disturbed = second.turns, 0
        return "waits"

    def _beside(self) -> dict[int, int] | None:
        """The turns of the threads that are not the run's; None if one of them works."""
        apart = set(_tasks()) - set(self.others()) - {threading.get_native_id()}
        if any(proc.stat(f"self/task/{task}")[:1] == [b"R"] for task in apart):
            return None
        return {task: proc.turns(f"/proc/self/task/{task}") for task in apart}

    def _sleeping(self) -> Sleeping:
        turns: dict[int, int] = {}
        outside: set[int] = set()
        disk = working = False
        for task in self.others():
            folder = f"/proc/self/task/{task}"
            state = proc.stat(f"self/task/{task}")[:1]
            call = proc.read(f"{folder}/syscall").split()[:1]
            if state in ([b"S"], [b"I"], [b"T"]):
                turns[task] = proc.turns(folder)
                if call and _LOCK_CALL is not None and call[0] != _LOCK_CALL:
                    outside.add(task)
            elif state == [b"D"]:
                disk = True
            elif state and state not in ([b"Z"], [b"X"]):
                working = True
        return Sleeping(turns, frozenset(outside), disk, working)


def pool_threads() -> list[threading.Thread]:
    """The threads of pools, which may work for a run that began after them."""
    idle: dict[Any, Any] = {}
    if (cache := sys.modules.get("trio._core._thread_cache")) is not None:
        idle = getattr(getattr(cache, "THREAD_CACHE", None), "_idle_workers", {})
    of_trio = [thread for worker in list(idle) if (thread := getattr(worker, "_thread", None))]
    return [*list(_threads_queues), *of_trio]


def _tasks() -> list[int]:
    if proc.EXISTS:
        return proc.numbers("/proc/self/task")
    return [thread.native_id or 0 for thread in threading.enumerate()]


def _pause_long(pause: Callable[[], object]) -> None:
    until_s = time.perf_counter() + LONG_S
    while time.perf_counter() < until_s:
        pause()


def _uses_processor(pause: Callable[[], object]) -> bool:
    used_s = time.process_time()
    _pause_long(pause)
    return time.process_time() - used_s > LONG_S / 2
