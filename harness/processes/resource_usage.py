"""Processor time and memory of a target: threads of this process, and programs it has started.

Linux has both in `/proc`. On other systems `ps` gives them for programs, at most once a second.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from harness.processes import proc
from harness.processes.thread_times import (
    in_line_s,
    process_in_line_s,
    processor_s,
    thread_in_line_s,
)

PS_EVERY_S = 1.0
_MB = 1024 * 1024


class Usage(NamedTuple):
    """Processor seconds since a fixed moment, memory in use, and seconds in line for a processor.

    The last one may shrink when a thread ends."""

    cpu_s: float = 0.0
    memory_mb: float = 0.0
    in_line_s: float = 0.0


class Process(NamedTuple):
    """A process of this machine. `cpu_s` includes its ended children."""

    pid: int
    parent: int
    group: int
    cpu_s: float
    memory_mb: float


def processes() -> list[Process]:
    """Return all visible processes of this machine."""
    return list(_of_proc(proc.numbers("/proc"))) if proc.EXISTS else _of_ps()


def _of_proc(pids: Iterable[int]) -> Iterator[Process]:
    """Yield the living ones of these processes."""
    tick_s, page = 1 / os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for pid in pids:
        if words := proc.stat(str(pid)):
            cpu_s = sum(map(int, words[11:15])) * tick_s
            memory_mb = int(words[21]) * page / _MB
            yield Process(pid, int(words[1]), int(words[2]), cpu_s, memory_mb)


def _of_ps() -> list[Process]:
    columns = ["ps", "-A", "-o", "pid=,ppid=,pgid=,time=,rss="]
    with suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(columns, capture_output=True, text=True, check=True, timeout=5)
        return [_of_line(line.split()) for line in told.stdout.splitlines() if line.strip()]
    return []


def _of_line(words: list[str]) -> Process:
    pid, parent, group, cpu, memory_kb = words
    return Process(int(pid), int(parent), int(group), seconds(cpu), int(memory_kb) / 1024)


def seconds(text: str) -> float:
    """Return the seconds of `[[DAYS-]HOURS:]MINUTES:SECONDS`."""
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + int(days or 0) * 86_400


def tree(
    root: int,
    table: Iterable[Process],
    without: frozenset[int] = frozenset(),
    line_of: Callable[[int], float] = lambda pid: 0.0,
) -> Usage:
    """Return the usage of a process, its descendants, and its process group.

    `line_of` returns the time in line of a process, in seconds."""
    table = [process for process in table if process.pid not in without]
    members = {p.pid for p in table if root in (p.pid, p.group)}
    while more := {p.pid for p in table if p.parent in members} - members:
        members |= more
    inside = [process for process in table if process.pid in members]
    in_line_s = sum(line_of(process.pid) for process in inside)
    return Usage(sum(p.cpu_s for p in inside), sum(p.memory_mb for p in inside), in_line_s)


class OfProgram:
    """The usage of a program and all its children; a call returns the present usage."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._looked_s, self._last = -PS_EVERY_S, Usage()

    def __call__(self) -> Usage:
        """Return the present usage; with `ps`, one from the last second."""
        if not proc.EXISTS and time.monotonic() - self._looked_s < PS_EVERY_S:
            return self._last
        self._looked_s = time.monotonic()
        self._last = tree(self._pid, processes(), line_of=process_in_line_s)
        return self._last


class OfRun:
    """The usage of a run in this process, from its beginning.

    Earlier threads, except the one that makes this object, do not belong to the run. The memory is
    the growth of the process.
    """

    def __init__(self) -> None:
        me = threading.current_thread()
        self._others = [thread for thread in threading.enumerate() if thread is not me]
        self._foreign = frozenset(proc.descendants(os.getpid()))
        self._base_mb = _own_memory_mb()

    def __call__(self) -> Usage:
        """Return the present usage, without the calling thread."""
        programs = list(_of_proc({*proc.descendants(os.getpid())} - self._foreign))
        strangers = (*self._others, threading.current_thread())
        ended = os.times()
        cpu_s = time.process_time() - sum(map(processor_s, strangers))
        cpu_s += ended.children_user + ended.children_system + sum(p.cpu_s for p in programs)
        memory_mb = _own_memory_mb() - self._base_mb + sum(p.memory_mb for p in programs)
        line_s = in_line_s() - sum(map(thread_in_line_s, self._others))
        return Usage(cpu_s, max(0.0, memory_mb), line_s)


def _own_memory_mb() -> float:
    for process in _of_proc([os.getpid()]):
        return process.memory_mb
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (_MB if sys.platform == "darwin" else 1024)
