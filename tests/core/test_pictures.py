"""The size of a picture is read from its first bytes, in the formats that providers take."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.pictures import HEAD_CHARACTERS, base64_pixels, pixels
from tests.core.picture_heads import HEADS, Head, jpeg, png

EDGES = st.integers(1, 16_000)
EVERY_FORMAT = pytest.mark.parametrize("head", HEADS, ids=lambda head: head.__name__)


@EVERY_FORMAT
@given(width=EDGES, height=EDGES, rest=st.binary(max_size=20))
def test_width_and_height_are_read(head: Head, width: int, height: int, rest: bytes) -> None:
    data = head(width, height) + rest
    assert pixels(data) == (width, height)
    assert base64_pixels(base64.b64encode(data).decode()) == (width, height)


@EVERY_FORMAT
@given(width=EDGES, height=EDGES)
def test_a_head_that_is_cut_anywhere_has_no_size(head: Head, width: int, height: int) -> None:
    data = head(width, height)
    assert [pixels(data[:cut]) for cut in range(len(data))] == [None] * len(data)


STARTS = [b"", *(head(700, 500)[:16] for head in HEADS), b"\xff\xd8\xff\xe0\0\0", b"RIFF"]


@given(st.sampled_from(STARTS), st.binary(max_size=60))
def test_no_bytes_raise(start: bytes, rest: bytes) -> None:
    size = pixels(start + rest)
    assert size is None or min(size) >= 0


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    base64_pixels(text)


@pytest.mark.parametrize("text", ["", "!", "\u00e9###", "iVBORw0KGgo=", "R0lGODlh", "/9j/", "A=A="])
def test_a_text_that_is_no_picture_has_no_size(text: str) -> None:
    assert base64_pixels(text) is None


def test_a_size_behind_a_full_exif_segment_is_read_and_a_long_file_is_not_decoded() -> None:
    exif = b"\xff\xe1\xff\xff" + b"x" * 0xFFFD
    data = b"\xff\xd8" + exif + jpeg(9_000, 40)[2:]
    assert base64_pixels(base64.b64encode(data).decode()) == (9_000, 40)
    head = base64.b64encode(png(640, 480)).decode()
    assert base64_pixels(head.ljust(HEAD_CHARACTERS, "A") + "no base64") == (640, 480)
