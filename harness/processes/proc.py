"""What Linux tells of processes and threads below `/proc`: nothing of one that has ended.

Each call of a run reads here, so the files are read unbuffered. Other systems tell nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

EXISTS = os.path.exists("/proc/self/stat")

_MOST_BYTES = 1 << 16


def read(path: str) -> bytes:
    """Read a kernel file; b"" without it."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, _MOST_BYTES)
    except OSError:  # the thread has ended in between
        return b""
    finally:
        os.close(file)


def numbers(folder: str) -> list[int]:
    """Return the processes or threads of a folder."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    except OSError:
        return []


def stat(path: str) -> list[bytes]:
    """Return the fields of a process or thread, from its state on."""
    return read(f"/proc/{path}/stat").rpartition(b")")[2].split()


def threads(pid: int) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield each thread of a process with its seconds on a processor and in line for one."""
    for task in numbers(f"/proc/{pid}/task"):
        yield task, schedstat(f"/proc/{pid}/task/{task}")


def schedstat(folder: str) -> tuple[float, float]:
    """Return the seconds of a thread on a processor, and those in line for one."""
    words = read(f"{folder}/schedstat").split()
    return (int(words[0]) / 1e9, int(words[1]) / 1e9) if len(words) > 1 else (0.0, 0.0)


def turns(folder: str) -> int:
    """Return how often a thread got a processor."""
    words = read(f"{folder}/schedstat").split()
    return int(words[2]) if len(words) > 2 else 0


def children(pid: int) -> Iterator[int]:
    """Yield the children of all threads of a process."""
    for task in numbers(f"/proc/{pid}/task"):
        yield from map(int, read(f"/proc/{pid}/task/{task}/children").split())


def descendants(pid: int) -> Iterator[int]:
    """Yield the children of a process, and theirs."""
    for child in children(pid):
        yield child
        yield from descendants(child)
