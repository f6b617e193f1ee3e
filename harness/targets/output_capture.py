"""What a target prints, kept apart from what the harness prints.

A child process or C code writes to the descriptors 1 and 2, and not to `sys.stdout`. So the
descriptors themselves are captured. They lead to a file and not to a pipe: a program that a target
leaves behind may hold them without end, and a pipe without a reader would block the target.
"""

from __future__ import annotations

import fcntl
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Literal, TypeAlias

CaptureMode: TypeAlias = Literal["fd", "sys", "tee-sys", "no"]
"""What is captured, with the words of pytest: the descriptors, `sys.stdout` and `sys.stderr` only,
these with a copy to where they led before, or nothing."""


OUTPUT_MAX_BYTES = 1_000_000
"""The most of an output that is kept, from its end."""

_STREAMS = ("stdout", "stderr")


class Output:
    """The output of a target: its text is there after the block of `captured`."""

    text = ""


@contextmanager
def captured(mode: CaptureMode) -> Iterator[Output]:
    """Capture what is printed in the block, also by forked children and started programs."""
    output = Output()
    if mode == "no":
        yield output
        return
    with tempfile.TemporaryFile() as file:
        # Two descriptors and the copies of children share the file: each write goes to its end.
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
        try:
            with _streams_to(file, copies=mode == "tee-sys"):
                if mode == "fd":
                    with _descriptors_to(file):
                        yield output
                else:
                    yield output
        finally:
            output.text = output_end(file, OUTPUT_MAX_BYTES)


def output_end(file: IO[bytes], most_bytes: int) -> str:
    """Return the end of a file with output; "" for a file that the target has closed."""
    return end_bytes(file, most_bytes).decode("utf-8", "replace")


def end_bytes(file: IO[bytes], most_bytes: int, since: int = 0) -> bytes:
    """Return the end of what follows the first `since` bytes; b"" for a closed file."""
    with suppress(OSError, ValueError):
        size_bytes = os.fstat(file.fileno()).st_size
        begin = max(since, size_bytes - most_bytes)
        return os.pread(file.fileno(), size_bytes - begin, begin)
    return b""


@contextmanager
def _descriptors_to(file: IO[bytes]) -> Iterator[None]:
    kept = {number: copy_of(number) for number in (1, 2)}
    for number in kept:
        os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        for number, copy in kept.items():
            _put_back(number, copy)


def copy_of(number: int) -> int | None:
    """Return a copy of a descriptor; None for a closed one."""
    try:
        return os.dup(number)
    except OSError:
        return None


def _put_back(number: int, copy: int | None) -> None:
    """Lead a descriptor to where it led; to nowhere if the target has closed the copy."""
    try:
        if copy is not None:
            os.dup2(copy, number)
            os.close(copy)
            return
    except OSError:
        pass
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    if nowhere != number:
        os.close(nowhere)


@contextmanager
def _streams_to(file: IO[bytes], *, copies: bool) -> Iterator[None]:
    """Replace `sys.stdout` and `sys.stderr`; nothing stays in a buffer, because a target may end
    its process at any moment."""
    before = {name: getattr(sys, name) for name in _STREAMS}
    for name, stream in before.items():
        _flush(stream)
        setattr(sys, name, _Stream(file, stream if copies else None))
    try:
        yield
    finally:
        # Code that was imported before may hold the former streams.
        for name, stream in before.items():
            _flush(stream)
            setattr(sys, name, stream)


def _flush(stream: Any) -> None:
    with suppress(Exception):  # None, closed, or a stream of the target's own
        stream.flush()


class _Stream(io.TextIOWrapper):
    def __init__(self, file: IO[bytes], copy: Any) -> None:
        raw = io.FileIO(os.dup(file.fileno()), "w")
        super().__init__(
            io.BufferedWriter(raw), "utf-8", "backslashreplace", "", write_through=True
        )
        self._copy = copy

    def write(self, text: str, /) -> int:
        written = super().write(text)
        self.flush()
        if self._copy is not None:
            self._copy.write(text)
        return written
