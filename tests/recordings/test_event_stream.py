"""The binary event stream: frames are checked, and what is damaged is refused."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.messages import ToolUse
from harness.providers.shared.codec import Unreadable
from harness.providers.shared.event_stream import as_sse, frames, named_events
from harness.recordings.apis import APIS, answer
from tests.recordings.cassettes import ANTHROPIC_EVENTS


def frame(payload: bytes, headers: bytes = b"\x0b:event-type\x07\0\x05chunk") -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return head + struct.pack(">I", zlib.crc32(head))


def _event(value: object) -> bytes:
    packed = base64.b64encode(json.dumps(value).encode()).decode()
    return frame(json.dumps({"bytes": packed, "p": "abc"}).encode())


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_payloads_come_back(payloads: list[bytes]) -> None:
    assert list(frames(b"".join(frame(p) for p in payloads))) == payloads


def test_a_stream_of_the_model_is_put_together() -> None:
    data = b"".join(_event(value) for value in ANTHROPIC_EVENTS)
    parsed = answer(APIS["anthropic"], data, "application/vnd.amazon.eventstream")
    assert parsed.message is not None
    assert parsed.message.blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert (parsed.stop, parsed.complete) == ("tool_use", True)


@given(st.integers(1, len(frame(b"x" * 20)) - 1))
def test_a_torn_frame_is_refused(size: int) -> None:
    with pytest.raises(Unreadable, match="torn"):
        list(frames(frame(b"x" * 20)[:size]))


@given(st.integers(0, len(frame(b"x" * 20)) - 1), st.integers(1, 255))
def test_a_damaged_frame_is_refused(at: int, bits: int) -> None:
    data = bytearray(frame(b"x" * 20))
    data[at] ^= bits
    with pytest.raises(Unreadable, match="torn"):
        list(frames(bytes(data)))


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"bytes": 3}', b'{"bytes": "a"}', b"{"])
def test_frames_without_events_are_refused(payload: bytes) -> None:
    with pytest.raises(Unreadable, match="no model events"):
        as_sse(frame(payload))


def _header(name: str, value: str) -> bytes:
    said = value.encode()
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(said)) + said


def named(name: str, value: object, kind: str = ":event-type") -> bytes:
    """A frame that names its event, as Bedrock Converse sends it."""
    headers = _header(kind, name) + _header(":content-type", "application/json")
    return frame(json.dumps(value).encode(), headers)


def test_named_events_are_told_by_their_headers() -> None:
    data = named("messageStart", {"role": "assistant"}) + named("e", 1, ":exception-type")
    assert list(named_events(data)) == [("messageStart", {"role": "assistant"}), ("e", 1)]
    assert list(named_events(frame(b"{}", b"\x03abc\x01"))) == [("", {})]
    with pytest.raises(Unreadable, match="no events"):
        list(named_events(frame(b"{")))


@given(st.binary(max_size=30))
def test_any_headers_are_read(headers: bytes) -> None:
    ((name, value),) = named_events(frame(b"{}", headers))
    assert (type(name), value) == (str, {})


def test_a_header_before_the_name_of_the_event_is_passed_over() -> None:
    """The headers follow each other: each begins where the last one ends."""
    headers = b"\x04kind\x07\0\x01x" + b"\x0b:event-type\x07\0\x05chunk"
    assert list(named_events(frame(b"{}", headers))) == [("chunk", {})]
