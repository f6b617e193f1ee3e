"""Files of JSON Lines that grow while a command runs, and outlast its kill by any signal.

A line that is written in one piece and flushed is with the operating system. So a killed process
leaves whole lines, and one that is torn at the most: its work is done again. A loss of power may
take more, because a sync for each line would cost more than the work. The text of a line has no
secrets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.core.values.errors import InputError
from harness.redaction.encoder import json_bytes

_Line = TypeVar("_Line")


class AppendedLines:
    """A file of JSON Lines, open for more; the operating system has each when `write` returns.

    What follows the first `whole_bytes` is cut: a kill may have left a torn line.
    """

    def __init__(self, path: Path, whole_bytes: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._file.truncate(whole_bytes)

    def write(self, line: Any) -> None:
        """Append a line; a kill of this process does not lose it."""
        self._file.write(json_bytes(line) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Sync the file to disk and close it."""
        os.fsync(self._file.fileno())
        self._file.close()


def without_torn_line(data: bytes) -> bytes:
    """The lines that are whole."""
    return data[: data.rfind(b"\n") + 1]


def lines_in(
    data: bytes, decoder: msgspec.json.Decoder[_Line], path: Path, what: str
) -> Iterator[_Line]:
    """Decode JSON Lines; raises InputError, with file and line, for one that cannot be read."""
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            yield decoder.decode(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"no line of a {what}: {error}", f"{path}:{number}") from None
