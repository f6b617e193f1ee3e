"""A recording on disk, read with bounded memory.

Too long a line of JSON Lines comes in pieces. Other formats are read whole, up to a bound, and so
is a file in gzip: it may unpack to a thousand times its size. A database is opened by name, because
its latest writes may be in a log beside it.
"""

from __future__ import annotations

import io
import os
from functools import partial
from pathlib import Path
from typing import IO

from harness.core.values.errors import InputError
from harness.files.regular_file import HEAD_BYTES, MAX_BYTES, is_packed, opened, whole
from harness.recordings import json_documents, recognition
from harness.recordings.session_log import MAX_LINE_BYTES
from harness.recordings.transcripts import Recording


def read_any_recording(path: Path, kind: str = "auto") -> Recording:
    """The recording in a file, or in a database; `kind` is a format or `auto`.

    Raises InputError, naming the file, for one that cannot be read.
    """
    from harness.stores.plain_tables import is_database, tables_of

    if not recognition.takes_tables(kind) or (kind == recognition.AUTO and not is_database(path)):
        return read_recording(path, kind)
    with tables_of(path) as tables:
        return recognition.read_tables(tables, str(path), kind)


def read_recording(path: Path, kind: str = "auto") -> Recording:
    """The recording in a file; `kind` is a format or `auto`.

    Raises InputError, naming the file, for one that cannot be opened or read, or is too large.
    """
    with opened(path) as file:
        if not is_packed(file):
            return _read(file, os.fstat(file.fileno()).st_size, path, kind)
    content = whole(path)
    return _read(io.BytesIO(content), len(content), path, kind)


def _too_large(size: int, path: Path) -> InputError:
    mb = 1024 * 1024
    more = (
        f"{size // mb} MiB; a file that is held in memory has at most "
        f"{json_documents.MAX_BYTES // mb} MiB as JSON, and {MAX_BYTES // mb} MiB as YAML; JSON "
        f"Lines have any size, and lines of at most {MAX_LINE_BYTES // mb} MiB"
    )
    return InputError("too large", str(path), more=more)


def _check_first_line(file: IO[bytes], path: Path, size: int) -> None:
    """Raise InputError for a first line that no format reads, before memory holds it.

    The file is too large for one document, so it can only be read line by line.
    """
    for piece in iter(partial(file.read, HEAD_BYTES), b""):
        if b"\n" in piece:
            return
        if file.tell() > MAX_LINE_BYTES:
            raise _too_large(size, path)


def _read(file: IO[bytes], size: int, path: Path, kind: str) -> Recording:
    head = file.read(HEAD_BYTES)
    if b"\n" not in head and size > json_documents.MAX_BYTES:
        _check_first_line(file, path, size)
        file.seek(len(head))
    head += file.readline(MAX_LINE_BYTES) if not head.endswith(b"\n") else b""
    file.seek(0)
    try:
        format = recognition.line_format(head, kind)
    except InputError as error:
        raise error.within(str(path)) from None
    if format:
        lines = iter(partial(file.readline, MAX_LINE_BYTES + 1), b"")
        return recognition.read_lines(lines, str(path), format)
    if size > MAX_BYTES:
        raise _too_large(size, path)
    return recognition.read(file.read(MAX_BYTES), str(path), kind)
