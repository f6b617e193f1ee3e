"""The pictures that the provider could not read: a note in the history, and what is sent for them.

The provider does not say which picture it means, and refuses each request that holds it. So the
history gets a note, and all pictures before it are left out of every later request. The note is a
stored row: it holds after a restart too, and no later turn pays for the picture again. A picture
that comes after the note is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import Block, Message, Text, ToolResult
from harness.core.values.pictures import is_picture, pictures_in

LEFT_OUT = "[A picture was left out here: the provider could not read it.]"

_NOTE = "The provider could not read a picture above this line"


def note_of(rows: Sequence[Message]) -> Message:
    """The row that ends a history with such a picture. The model does not get it: it reads
    `LEFT_OUT` in place of each picture. The number makes two notes differ, since a row that comes
    again looks like one that was stored twice."""
    return Message("system", (Text(f"{_NOTE} ({len(rows)} messages)."),))


def is_note(row: Message) -> bool:
    """Whether a row is such a note."""
    return row.role == "system" and row.text.startswith(_NOTE)


def holds_pictures(messages: Sequence[Message]) -> bool:
    """Whether a request of these messages holds a picture."""
    return any(pictures_in(block) for message in messages for block in message.blocks)


def without_refused(rows: Sequence[Message]) -> Sequence[Message]:
    """The rows with a text for each picture that stands before the last note."""
    places = [place for place, row in enumerate(rows) if is_note(row)]
    if not places:
        return rows
    last = places[-1]
    return [*(_replaced(row) for row in rows[:last]), *rows[last:]]


def _replaced(row: Message) -> Message:
    return Message(row.role, tuple(map(_without_picture, row.blocks)))


def _without_picture(block: Block) -> Block:
    if isinstance(block, ToolResult) and not isinstance(block.content, str):
        parts = tuple(Text(LEFT_OUT) if is_picture(part) else part for part in block.content)
        return msgspec.structs.replace(block, content=parts)
    return Text(LEFT_OUT) if is_picture(block) else block
