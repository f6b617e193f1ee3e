"""The binary event stream: frames are checked, and what is damaged is refused."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.messages import ToolUse
from harness.incidents.bodies import Unreadable
from harness.incidents.event_stream import as_sse, frames
from harness.incidents.shapes import anthropic
from tests.incidents.cassettes import ANTHROPIC_EVENTS


def _frame(payload: bytes, headers: bytes = b"\x0b:event-type\x07\0\x05chunk") -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return head + struct.pack(">I", zlib.crc32(head))


def _event(value: object) -> bytes:
    packed = base64.b64encode(json.dumps(value).encode()).decode()
    return _frame(json.dumps({"bytes": packed, "p": "abc"}).encode())


@given(st.lists(st.binary(max_size=40), max_size=4))
def test_payloads_come_back(payloads: list[bytes]) -> None:
    assert list(frames(b"".join(_frame(p) for p in payloads))) == payloads


def test_a_stream_of_the_model_is_put_together() -> None:
    data = b"".join(_event(value) for value in ANTHROPIC_EVENTS)
    parsed = anthropic.answer(data, "application/vnd.amazon.eventstream")
    assert parsed.message is not None
    assert parsed.message.blocks == (ToolUse("toolu_1", "roll", {"sides": 6}),)
    assert (parsed.stop, parsed.complete) == ("tool_use", True)


@given(st.integers(1, len(_frame(b"x" * 20)) - 1))
def test_a_torn_frame_is_refused(size: int) -> None:
    with pytest.raises(Unreadable, match="torn"):
        list(frames(_frame(b"x" * 20)[:size]))


@given(st.integers(0, len(_frame(b"x" * 20)) - 1), st.integers(1, 255))
def test_a_damaged_frame_is_refused(at: int, bits: int) -> None:
    data = bytearray(_frame(b"x" * 20))
    data[at] ^= bits
    with pytest.raises(Unreadable, match="torn"):
        list(frames(bytes(data)))


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"bytes": 3}', b'{"bytes": "a"}', b"{"])
def test_frames_without_events_are_refused(payload: bytes) -> None:
    with pytest.raises(Unreadable, match="no model events"):
        as_sse(_frame(payload))
