"""Bodies of the compact form: kept in the plainest way that gives the same bytes back."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness.recordings.compact_bodies import (
    MARK,
    Body,
    RequestFramer,
    body_bytes_of,
    parts,
    whole_body,
)
from tests.cassettes.interactions import bodies, request_bodies


@pytest.mark.parametrize(
    ("body", "way"),
    [
        (b'{"a": [1, 2]}', "json"),
        (b'{"a":\n1}', "text"),
        (b"plain", "text"),
        (b"{torn", "text"),
        (b'{"a": "\xff"}', "base64"),
        (b"event: a\ndata: {}\n\ndata: 2\n\n", "events"),
        (b"\x1f\x8b", "base64"),
    ],
)
def test_the_way_in_which_a_body_is_kept(body: bytes, way: str) -> None:
    found = whole_body(body)
    held = {
        name for name in Body.__struct_fields__ if getattr(found, name) != getattr(Body(), name)
    }
    assert held == {way}
    assert body_bytes_of(found) == body


def test_a_stream_is_kept_event_by_event() -> None:
    found = whole_body(b"event: a\ndata: 1\n\ndata: 2\r\n\r\ndata: torn")
    assert found.events == ["event: a\ndata: 1\n\n", "data: 2\r\n\r\n", "data: torn"]


@given(bodies)
def test_every_body_comes_back(body: bytes) -> None:
    assert body_bytes_of(whole_body(body)) == body


@given(request_bodies())
def test_parts_make_the_body_again(body: bytes) -> None:
    found = parts(body)
    if found is not None:
        listed = b"[" + found.comma.join(found.items) + b"]"
        assert found.frame.replace(MARK, listed) == body
        assert found.frame.count(MARK) == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"x": "[]", "messages": []}',
        b'{"messages": "hi"}',
        b'{"messages": [1,  2]}',
        b'{"messages": [1], "x": "$messages"}',
        b"[1]",
        b'{"model": "m"}',
        b"[" * 5000 + b"]" * 5000,
    ],
)
def test_what_cannot_be_taken_apart_is_kept_whole(body: bytes) -> None:
    assert parts(body) is None
    assert body_bytes_of(RequestFramer().take(body, 1)) == body


def test_what_was_written_is_not_written_again() -> None:
    framer = RequestFramer()
    framer.take(b'{"messages":[1,2]}', 1)
    assert [value for _, value in framer.new_messages] == [b"1", b"2"]
    again = framer.take(b'{"messages":[1,2,3]}', 2)
    assert [value for _, value in framer.new_messages] == [b"3"]
    assert framer.new_frames == []
    assert (again.after, again.keep, len(again.add)) == (1, 2, 1)
