"""Chats as JSON Lines: an object on each line that holds a list of messages.

It is how data sets for training and logs of gateways are kept. The objects are those of a chat
document; what differs is that a line is read at a time, and a torn one costs only itself.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from harness.recordings import chat_json, documents
from harness.recordings.lines import Kept, Notes, entries, first_objects, split
from harness.recordings.transcripts import Recording, Transcript


def looks_like(data: bytes) -> bool:
    """Whether there are several lines, and the first is an object that holds messages."""
    if not documents.is_lines(data):
        return False
    return any(chat_json.transcript_of("", value) for value in first_objects(data)[:1])


def read(data: bytes) -> Recording:
    """Chats; raises InputError when no line holds one."""
    return read_lines(split(data))


def read_lines(lines: Iterable[bytes]) -> Recording:
    """Chats from their lines; raises InputError when none of them holds one."""
    notes, kept = Notes(), Kept()
    found: dict[str, Transcript | None] = {}
    for entry in entries(lines, notes):
        kept.add(entry)
        name = f"line {entry.number}"
        found[name] = chat_json.transcript_of(name, entry.value)
    recording = chat_json.recording("chat_lines", found)
    return msgspec.structs.replace(recording, notes=notes.told())
