"""A machine that lacks something, for a block of a test: open files, or room on a disk."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def open_files_left(number: int) -> Iterator[None]:
    """In the block this process can open this number of files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    listed = map(int, os.listdir("/proc/self/fd"))
    used = {number for number in listed if os.path.exists(f"/proc/self/fd/{number}")}
    highest = max(used)
    holes = {*range(highest + 1)} - used
    fillers = [os.open(os.devnull, os.O_RDONLY) for _ in holes]
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for filler in fillers:
            os.close(filler)


@contextmanager
def file_size_most(size_bytes: int) -> Iterator[None]:
    """In the block no process of ours can make a file larger than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(folder: Path, size_kb: int = 64) -> Iterator[Path]:
    """A folder that is its own disk; skips the test where this user may not mount one."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Take all the room of a disk."""
    file = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(file, b"x" * 1024)
    except OSError:
        os.close(file)
