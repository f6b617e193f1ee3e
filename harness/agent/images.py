"""Pictures that no request may hold, today or when there are twenty others.

Providers take a picture of up to 5 MB as it is sent, which is base64, with edges of up to 8000
pixels; and in a request with more than twenty of them none of more than 2000. A picture is left out
by what it is alone, never by what came after it: so a request is still the beginning of the next.
Nothing is lost by the lower limit, for larger pictures are made smaller before a model sees them.
What cannot be read is sent. Pure.
"""

from __future__ import annotations

from harness.core.values.messages import Block, Opaque, Text
from harness.core.values.pictures import base64_pixels

SIZE_MAX_BYTES = 5 * 1024 * 1024
EDGE_MAX_PIXELS = 2000

_TOO_LARGE = "[A picture was left out here: it is too large to be looked at ({why}).]"


def sendable(block: Opaque) -> Opaque | Text:
    """The block, or a note in the place of a picture that is too large."""
    match block.value:
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            why = _reason_against(data)
            return Text(_TOO_LARGE.format(why=why)) if why else block
    return block


def data_url(block: Block) -> str:
    """The picture that a block brings, as the URL that the OpenAI wires take; "" for no picture."""
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
