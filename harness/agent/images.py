"""Pictures that no request may hold, today or when there are twenty others.

Providers take a picture of up to 5 MB as it is sent, which is base64, with edges of up to 8000
pixels; and in a request with more than twenty of them none of more than 2000. A picture is left out
by what it is alone, never by what came after it: so a request is still the beginning of the next.
Nothing is lost by the lower limit, for larger pictures are made smaller before a model sees them.
What cannot be read is sent. Pure.
"""

from __future__ import annotations

import base64
import binascii
import struct

from harness.core.values.messages import Block, Opaque, Text

SIZE_MAX_BYTES = 5 * 1024 * 1024
EDGE_MAX_PIXELS = 2000

_HEAD = 65_536
"""How much of the base64 text holds the size of nearly every picture."""

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
    edge = max(_edges(_decoded(data[:_HEAD])), default=0)
    return f"{edge} pixels, and {EDGE_MAX_PIXELS} are the limit" if edge > EDGE_MAX_PIXELS else ""


def _decoded(head: str) -> bytes:
    try:
        return base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _edges(head: bytes) -> tuple[int, ...]:
    """Width and height, in the formats that say so at their beginning; nothing for another one."""
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head.startswith(b"GIF8") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    return _jpeg(head) if head.startswith(b"\xff\xd8") else ()


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG segments that begin a frame, and so hold its size."""


def _jpeg(head: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        if head[at + 1] in _FRAMES:
            return struct.unpack(">HH", head[at + 5 : at + 9])
        at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4], "big"))
    return ()
