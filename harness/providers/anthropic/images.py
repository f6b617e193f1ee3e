"""The size of an image that stands in a message as base64: its bytes, and its edges in pixels.

Edges are read from the head of the file, in the four formats that the API takes. What cannot be
read has no edges: a test's image is often a few made-up bytes, and that is none of our business.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from harness.core.values.messages import Json, Message, Opaque, ToolResult

BYTES_MAX = 5 * 1024 * 1024
EDGE_MAX, EDGE_MAX_OF_MANY, MANY = 8000, 2000, 20
"""The longest edge in a request of up to `MANY` images, and in one of more."""

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def images(index: int, message: Message) -> Iterator[tuple[str, str]]:
    """The images of a message, as their paths and their base64 text."""
    for m, block in enumerate(message.blocks):
        path = f"messages.{index}.content.{m}"
        if isinstance(block, Opaque):
            yield from _image(path, block.value)
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            for k, part in enumerate(block.content):
                if isinstance(part, Opaque):
                    yield from _image(f"{path}.tool_result.content.{k}", part.value)


def _image(path: str, value: dict[str, Json]) -> Iterator[tuple[str, str]]:
    match value:
        case {"type": "image", "source": {"type": "base64", "data": str(data)}}:
            yield path, data


def size_bytes(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def edge(data: str) -> int:
    """The longer edge of an image in pixels, 0 when it cannot be read."""
    try:
        head = base64.b64decode(data[: 4 * (len(data) // 4)][:88_000], validate=True)
    except (binascii.Error, ValueError):
        return 0
    return max(_edges(head))


def _edges(head: bytes) -> tuple[int, ...]:
    def number(at: int, length: int, order: str = "big") -> int:
        return int.from_bytes(head[at : at + length], "big" if order == "big" else "little")

    if head.startswith(b"\x89PNG"):
        return number(16, 4), number(20, 4)
    if head.startswith(b"GIF8"):
        return number(6, 2, "little"), number(8, 2, "little")
    if head.startswith(b"RIFF") and head[12:16] == b"VP8X":
        return 1 + number(24, 3, "little"), 1 + number(27, 3, "little")
    if head.startswith(b"RIFF") and head[12:16] == b"VP8 ":
        return number(26, 2, "little") & 0x3FFF, number(28, 2, "little") & 0x3FFF
    if head.startswith(b"RIFF") and head[12:16] == b"VP8L":
        bits = number(21, 4, "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return _jpeg(head) if head.startswith(b"\xff\xd8") else (0,)


def _jpeg(head: bytes) -> tuple[int, ...]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        if head[at + 1] in _START_OF_FRAME:
            return int.from_bytes(head[at + 5 : at + 7]), int.from_bytes(head[at + 7 : at + 9])
        at += 2 + max(2, int.from_bytes(head[at + 2 : at + 4]))
    return (0,)
