"""Bodies: every way in which a cassette keeps one leads back to its bytes."""

from __future__ import annotations

import base64
import gzip
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.providers.shared.codec import Unreadable
from harness.recordings import http_interaction
from harness.recordings.http_interaction import MAX_BODY_BYTES, UnpackedSize, body_bytes

DATA = b'{"a": "\xc3\xa9"}'
PACKED = gzip.compress(DATA)


@pytest.mark.parametrize(
    "part",
    [
        {"body": DATA},
        {"body": DATA.decode()},
        {"body": {"string": DATA.decode()}},
        {"body": {"string": DATA, "encoding": "UTF-8"}},
        {"body": {"base64_string": base64.b64encode(DATA).decode()}},
        {"body": base64.b64encode(DATA).decode()},
        {"body": PACKED},
        {"body": {"string": PACKED}},
        {"body": base64.b64encode(PACKED).decode()},
        {"body": "base64:" + base64.b64encode(PACKED).decode()},
        {"parsed_body": DATA.decode(), "body": "other"},
    ],
)
def test_every_spelling_is_the_same_bytes(part: dict[str, Any]) -> None:
    assert body_bytes(part) == DATA


def test_a_parsed_body_is_written_as_json() -> None:
    assert body_bytes({"parsed_body": {"a": [1, None]}}) == b'{"a":[1,null]}'
    assert body_bytes({"body": {"a": 1}}) == b'{"a":1}'


def test_no_body_is_no_bytes() -> None:
    assert body_bytes({}) == b""
    assert body_bytes({"body": None}) == b""
    assert body_bytes({"body": {"string": None}}) == b""


def test_text_that_only_looks_like_base64_stays_text() -> None:
    assert body_bytes({"body": "abcdefghijklmnopqrst"}) == b"abcdefghijklmnopqrst"


@given(st.integers(0, len(PACKED) - 1))
def test_a_torn_gzip_is_refused(size: int) -> None:
    if size < 2:
        assert body_bytes({"body": PACKED[:0]}) == b""
        return
    with pytest.raises(Unreadable, match="gzip is torn"):
        body_bytes({"body": PACKED[:size]})


def test_a_gzip_that_grows_without_end_is_refused_before_it_takes_memory() -> None:
    packed = gzip.compress(b"0" * 8 * MAX_BODY_BYTES, compresslevel=1)
    tracemalloc.start()
    with pytest.raises(Unreadable, match="grows to more than 32 MB"):
        body_bytes({"body": packed})
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 1.5 * MAX_BODY_BYTES


def test_the_bodies_of_a_file_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_interaction, "MAX_UNPACKED_BYTES", 250_000)
    together, packed = UnpackedSize(), {"body": gzip.compress(b"0" * 100_000)}
    assert len(body_bytes(packed, "", together)) == 100_000
    assert len(body_bytes(packed, "", together)) == 100_000
    with pytest.raises(Unreadable, match="bodies of the file grow"):
        body_bytes(packed, "", together)


@pytest.mark.parametrize("size_bytes", [0, 1, 1024**2 - 1, 1024**2, 1024**2 + 1, 3 * 1024**2])
def test_a_gzip_of_any_number_of_pieces_is_whole(size_bytes: int) -> None:
    said = bytes(n % 251 for n in range(size_bytes))
    assert body_bytes({"body": gzip.compress(said, compresslevel=1)}) == said


def test_other_compressions_are_named() -> None:
    with pytest.raises(Unreadable, match="compressed with br"):
        body_bytes({"body": b"\x83\x40\xff"}, "br")
    assert body_bytes({"body": "plain"}, "br") == b"plain"
