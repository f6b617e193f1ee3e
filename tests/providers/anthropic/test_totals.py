"""The images of a message: where they stand, and their longer edge."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import Message, Opaque, Text, ToolResult
from harness.providers.anthropic.totals import edge, images
from tests.core.picture_heads import HEADS, Head, jpeg, png


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)
@given(width=st.integers(1, 16_000), height=st.integers(1, 16_000))
def test_the_longer_edge_is_read(head: Head, width: int, height: int) -> None:
    data = base64.b64encode(head(width, height) + b"\0\0").decode()
    assert edge(data) == max(width, height)


@given(st.binary(max_size=60) | st.sampled_from([png(1, 1)[:20], jpeg(9, 9)[:50], b"\xff\xd8\xff"]))
def test_nonsense_has_no_edge(data: bytes) -> None:
    assert edge(base64.b64encode(data).decode()) >= 0


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
