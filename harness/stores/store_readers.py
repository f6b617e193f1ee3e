"""A foreign agent's session: one message a line, free of any wire, as the harness reads it.

A line is `{"role": …, "blocks": […]}`; an `id` beside them names the inbound message that the row
keeps. The file may not be there yet, and its last line may be torn, for it is read while the agent
writes. Lines end with a line feed and nothing else: U+2028 inside a text ends none.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import msgspec

from harness.core.history.events import StoredRow
from harness.core.values.messages import Block, Message, digest


class _Line(msgspec.Struct, frozen=True):
    role: str
    blocks: tuple[Block, ...] = ()
    id: str = ""


_decode_line = msgspec.json.Decoder(_Line).decode


class MessageLines:
    """Reads a file of messages; a row's id is its line number, so a rewritten row has changed."""

    name = "jsonl"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    def read(self) -> Sequence[tuple[StoredRow, Message]]:
        """Every row in order. A line that is no message is left out, and so is a torn last one."""
        if not self._path.exists():
            return []
        lines = self._path.read_bytes().split(b"\n")
        return [found for n, line in enumerate(lines, start=1) if (found := _message_row(n, line))]


def _message_row(number: int, line: bytes) -> tuple[StoredRow, Message] | None:
    try:
        row = _decode_line(line)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    message = Message(row.role, row.blocks)
    return StoredRow(str(number), digest(message), row.id), message
