"""The content that can be stored and sent: complete characters, pictures within providers' limits.

A provider may split an emoji between two pieces of a stream. Neither SQLite nor the SDK can write
lone surrogates. Providers take pictures up to 5 MB of base64 and 8000 pixels an edge, or 2000 in a
request of more than twenty. The lower limit holds here for every picture, so a request stays a
prefix of the next one. A picture of unknown size is sent.

The pictures that the provider could not read: a note in the history, and what is sent for them.

The provider does not say which picture it means, and refuses each request that holds it. So the
history gets a note, and all pictures before it are left out of every later request. The note is a
stored row: it holds after a restart too, and no later turn pays for the picture again. A picture
that comes after the note is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    ToolResult,
    mapped_texts,
)
from harness.core.values.pictures import base64_pixels, is_picture, pictures_in

SIZE_MAX_BYTES = 5 * 1024 * 1024
EDGE_MAX_PIXELS = 2000

_TOO_LARGE = "[A picture was left out here: it is too large to be looked at ({why}).]"


def clean(text: str) -> str:
    """The text with split surrogate pairs joined, and each remaining half replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clean_json(value: Json) -> Json:
    """A JSON value with all its texts clean."""
    return mapped_texts(value, clean)


def sendable_picture(block: Opaque) -> Opaque | Text:
    """The block, or a note if it is a picture that is too large."""
    match block.value:
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            why = _reason_against(data)
            return Text(_TOO_LARGE.format(why=why)) if why else block
    return block


def picture_url(block: Block) -> str:
    """The picture of a block as a URL for the OpenAI wires; "" without a picture."""
    match block:
        case Opaque("image", {"source": {"type": "base64", "media_type": media, "data": data}}):
            return f"data:{media};base64,{data}"
        case Opaque("image", {"source": {"type": "url", "url": str(url)}}):
            return url
    return ""


def _reason_against(data: str) -> str:
    if len(data) > SIZE_MAX_BYTES:
        return f"{len(data)} bytes of base64, and {SIZE_MAX_BYTES} are the limit"
    edge = max(base64_pixels(data) or (0,))
    return f"{edge} pixels, and {EDGE_MAX_PIXELS} are the limit" if edge > EDGE_MAX_PIXELS else ""


def text_of(result: ToolResult) -> str:
    """The result as text; a part that is not text is replaced by the name of its kind."""
    if isinstance(result.content, str):
        return result.content
    return "\n".join(b.text if isinstance(b, Text) else f"[{b.kind}]" for b in result.content)


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
