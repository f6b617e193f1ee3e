"""The content that can be stored and sent: complete characters, pictures within providers' limits.

A provider may split an emoji between two pieces of a stream. Neither SQLite nor the SDK can write
lone surrogates. Providers take pictures up to 5 MB of base64 and 8000 pixels an edge, or 2000 in a
request of more than twenty. The lower limit holds here for every picture, so a request stays a
prefix of the next one. A picture of unknown size is sent.
"""

from __future__ import annotations

from harness.core.values.messages import Block, Json, Opaque, Text, ToolResult, mapped_texts
from harness.core.values.pictures import base64_pixels

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
