"""The files of a folder that an agent wrote, without secrets, in place.

Text is masked line by line. In a database and in any other binary file each secret is overwritten
with as many stars, so that the file stays readable.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from harness.redaction.masking import mask_body
from harness.redaction.secret_patterns import spans

_SQLITE = b"SQLite format 3\0"
_HEAD_BYTES = 4096
PRINTABLE = re.compile(rb"[\x09\x0a\x0d\x20-\x7e]{8,}")


def redact_folder(folder: Path) -> None:
    """Take the secrets out of each regular file below a folder; links are left alone."""
    for path in _files(folder):
        head = _head(path)
        if head.startswith(_SQLITE):
            _fold_write_ahead(path)
    for path in _files(folder):
        with suppress(OSError):
            _redact(path)


def _files(folder: Path) -> Iterator[Path]:
    for below, _, names in os.walk(folder):
        for name in names:
            path = Path(below, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _redact(path: Path) -> None:
    data = path.read_bytes()
    is_binary = b"\0" in data[:_HEAD_BYTES]
    masked = _overwritten(data) if is_binary else b"".join(map(_line, data.splitlines(True)))
    if not is_binary:
        masked = mask_body(masked)
    if masked != data:
        path.chmod(0o600)
        path.write_bytes(masked)


def _line(line: bytes) -> bytes:
    end = line[len(line.rstrip(b"\r\n")) :]
    return mask_body(line[: len(line) - len(end)]) + end


def _overwritten(data: bytes) -> bytes:
    """The bytes with each secret in a printable run of them replaced by stars."""
    made = bytearray(data)
    for run in PRINTABLE.finditer(data):
        for start, end, _ in spans(run[0].decode("ascii")):
            made[run.start() + start : run.start() + end] = b"*" * (end - start)
    return bytes(made)


def _fold_write_ahead(path: Path) -> None:
    """Move what is in a database's log into the database: changed frames of a log do not count."""
    # The file may be another kind of file, or be in use: then there is no log to move.
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=0)) as database:
        database.execute("pragma wal_checkpoint(truncate)")
