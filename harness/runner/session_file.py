"""A session to begin with, in a file: messages of ours, or what another agent has stored.

Of another agent's file only what its model would be shown next is taken: what a compaction has
replaced is the past of that agent, not of this one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Message


def _messages(path: Path, place: str) -> list[Message]:
    lines = enumerate(path.read_bytes().split(b"\n"), start=1)
    return [_line(line, f"{place}:{number}") for number, line in lines if line.strip()]


def _line(line: bytes, place: str) -> Message:
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"no message: {error}", place) from None


def _claude_code(path: Path, place: str) -> list[Message]:
    """What the first session of a log goes on with, which is never a sub-agent's."""
    from harness.files.recording_file import read_recording

    return list(read_recording(path, "claude_code").transcripts[0].context)


def _hermes(path: Path, place: str) -> list[Message]:
    """The active messages of the session that was begun last: a compaction may begin one."""
    from harness.stores.hermes_store import read_database

    return list(read_database(path).transcripts[-1].context)


READ: dict[str, Callable[[Path, str], list[Message]]] = {
    "jsonl": _messages,
    "claude_code": _claude_code,
    "hermes": _hermes,
}
"""How each format is read: `(file, place) -> messages`. Raises InputError for what is no session,
and OSError for a file that cannot be opened."""
