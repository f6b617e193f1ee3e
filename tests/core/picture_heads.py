"""The first bytes of pictures of a given size, in each format that the parser knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Head: TypeAlias = Callable[[int, int], bytes]
"""`(width, height) -> bytes`, which end where the size is known."""


def little(number: int, length: int) -> bytes:
    """A number as GIF and WebP write it."""
    return number.to_bytes(length, "little")


def png(width: int, height: int) -> bytes:
    """The head of a PNG."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + height.to_bytes(4)


def gif(width: int, height: int) -> bytes:
    """The head of a GIF."""
    return b"GIF89a" + little(width, 2) + little(height, 2)


def jpeg(width: int, height: int) -> bytes:
    """The head of a JPEG whose frame comes after a comment."""
    comment = b"\xff\xfe" + (102).to_bytes(2) + b"x" * 100
    return b"\xff\xd8" + comment + b"\xff\xc2\0\x11\x08" + height.to_bytes(2) + width.to_bytes(2)


def webp(width: int, height: int) -> bytes:
    """The head of an extended WebP."""
    return b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + little(width - 1, 3) + little(height - 1, 3)


def webp_lossy(width: int, height: int) -> bytes:
    """The head of a lossy WebP."""
    return b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + little(width, 2) + little(height, 2)


def webp_lossless(width: int, height: int) -> bytes:
    """The head of a lossless WebP."""
    return b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + little(width - 1 | height - 1 << 14, 4)


HEADS: tuple[Head, ...] = (png, gif, jpeg, webp, webp_lossy, webp_lossless)
