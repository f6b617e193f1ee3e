"""Which blocks are pictures, and the size of one in pixels by the first bytes of its file.

Providers take four formats: PNG, JPEG, GIF and WebP (extended, lossy and lossless). Tests often use
made-up bytes, so a head may have no size.
"""

from __future__ import annotations

import base64
import binascii
import struct
from typing import TypeGuard

from harness.core.values.messages import Block, Opaque, ToolResult

_KINDS = frozenset({"image", "image_url", "input_image", "inlineData", "fileData"})
"""How APIs name a block with a picture."""

HEAD_CHARACTERS = 88_000
"""The number of characters of a base64 text to decode. A JPEG's size may come after a full EXIF
segment."""

_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG segments that begin a frame, and so hold its size."""


def is_picture(block: Block) -> TypeGuard[Opaque]:
    """Whether a block is a picture."""
    return isinstance(block, Opaque) and block.kind in _KINDS


def pictures_in(block: Block) -> list[Opaque]:
    """The pictures of a block: itself, or those among the parts of a tool's result."""
    parts = block.content if isinstance(block, ToolResult) else (block,)
    return [part for part in parts if not isinstance(part, str) and is_picture(part)]


def base64_pixels(text: str) -> tuple[int, int] | None:
    """Width and height of the picture in a base64 text; None if they are unknown."""
    try:
        head = base64.b64decode(text[: len(text) // 4 * 4][:HEAD_CHARACTERS], validate=True)
    except (binascii.Error, ValueError):
        return None
    return pixels(head)


def pixels(head: bytes) -> tuple[int, int] | None:
    """Width and height of the picture whose file begins with `head`; None if they are unknown.

    A head that ends before the size has no size. The function raises no error for any bytes.
    """
    try:
        return _pixels(head)
    except (struct.error, IndexError):
        return None


def _pixels(head: bytes) -> tuple[int, int] | None:
    """Read the size. Raises struct.error or IndexError if the head ends too early."""
    if head.startswith(b"\x89PNG"):
        width, height = struct.unpack_from(">II", head, 16)
        return width, height
    if head.startswith(b"GIF8"):
        width, height = struct.unpack_from("<HH", head, 6)
        return width, height
    if head.startswith(b"RIFF"):
        return _webp(head)
    return _jpeg(head) if head.startswith(b"\xff\xd8") else None


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X":  # 24 bits each, minus one
            low, high, low_height, high_height = struct.unpack_from("<HBHB", head, 24)
            return 1 + low + (high << 16), 1 + low_height + (high_height << 16)
        case b"VP8 ":  # 14 bits each; the two bits above are a scale
            width, height = struct.unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":  # 14 bits each, minus one, without padding
            (bits,) = struct.unpack_from("<I", head, 21)
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2
    while head[at] == 0xFF:
        if head[at + 1] in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        (length,) = struct.unpack_from(">H", head, at + 2)
        at += 2 + max(2, length)
    return None
