"""A recording on disk, read with bounded memory.

JSON Lines are handed to their reader a line at a time, however long the file is; any other format
is read whole, up to a bound. Only regular files are read: a pipe or a device may never end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from harness.core.errors import InputError
from harness.incidents import read
from harness.incidents.lines import MAX_LINE_BYTES
from harness.incidents.transcripts import Recording

MAX_BYTES = 256 * 1024 * 1024
"""The most bytes of a file that is read whole; JSON Lines may have more."""

NO_FILE = "no regular file"

_HEAD_BYTES = 1 << 16


def read_recording(path: Path, kind: str = "auto") -> Recording:
    """The recording in a file; `kind` is a format or `auto`.

    Raises InputError, naming the file, for one that cannot be opened, is too large or is none.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(NO_FILE, str(path))
            return _read(file, path, kind)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from None


def _read(file: IO[bytes], path: Path, kind: str) -> Recording:
    head = file.read(_HEAD_BYTES)
    head += file.readline(MAX_LINE_BYTES) if not head.endswith(b"\n") else b""
    file.seek(0)
    try:
        format = read.line_format(head, kind)
    except InputError as error:
        raise InputError(error.what, ": ".join(filter(None, (str(path), error.place)))) from None
    if format:
        return read.read_lines(_lines(file), str(path), format)
    if os.fstat(file.fileno()).st_size > MAX_BYTES:
        long = b"\n" not in head and len(head) > MAX_LINE_BYTES
        what = "line 1 is longer than 64 MB" if long else "larger than 256 MB, and no JSON Lines"
        raise InputError(what, str(path))
    return read.read(file.read(MAX_BYTES), str(path), kind)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines; a longer one than is read comes in pieces, the first of which is too long."""
    while line := file.readline(MAX_LINE_BYTES + 1):
        yield line
