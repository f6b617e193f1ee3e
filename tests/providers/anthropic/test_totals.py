"""The edges of an image, read from its first bytes, in the four formats."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Message, Opaque, Text, ToolResult
from harness.providers.anthropic.totals import base64_bytes, edge, images


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


@pytest.mark.parametrize("head", [png, gif, jpeg, webp, webp_lossy, webp_lossless])
@given(width=st.integers(1, 16_000), height=st.integers(1, 16_000))
def test_the_longer_edge_is_read(head: object, width: int, height: int) -> None:
    assert callable(head)
    data = base64.b64encode(head(width, height) + b"\0\0").decode()
    assert edge(data) == max(width, height)


@given(st.binary(max_size=60) | st.sampled_from([png(1, 1)[:20], jpeg(9, 9)[:50], b"\xff\xd8\xff"]))
def test_the_bytes_are_counted_and_nonsense_has_no_edge(data: bytes) -> None:
    text = base64.b64encode(data).decode()
    assert base64_bytes(text) == len(data)
    assert edge(text) >= 0


def test_what_is_no_base64_has_no_edge() -> None:
    assert edge("\u00e9###") == edge("") == 0


def test_images_are_found_in_results_too() -> None:
    image = Opaque("image", {"type": "image", "source": {"type": "base64", "data": "AA=="}})
    other = Opaque("image", {"type": "image", "source": {"type": "url", "url": "u"}})
    inner = ToolResult("t", (Text("a"), image, other))
    found = list(images(3, Message("user", (image, other, inner, ToolResult("t", "x")))))
    assert found == [
        ("messages.3.content.0", "AA=="),
        ("messages.3.content.2.tool_result.content.1", "AA=="),
    ]
