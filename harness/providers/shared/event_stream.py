"""The binary event stream of AWS: frames with checksums, each holding one event of a model.

Layout: frame length, header length, CRC of these eight bytes, headers, payload, CRC of all before.
InvokeModel wraps the model's events as base64 in JSON. Converse names an event in `:event-type` and
an error in `:exception-type`; the payload is its JSON.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.providers.shared import sse
from harness.providers.shared.codec import Unreadable, decode, encode

CONTENT_TYPE = "application/vnd.amazon.eventstream"

_PRELUDE = struct.Struct(">III")
_SIZES = struct.Struct(">II")
_CRC = struct.Struct(">I")
_SIZE = struct.Struct(">H")
_TEXT = b"\x07"
"""The type of a header whose value is text."""

_PADDING = "abcdefghijklmnopqrstuvwxyz"
"""Hides the length of an event on the way; here it is the same for all."""

_EVENT_END = re.compile(rb"(?:\r?\n){2,}|\r{2,}")


def is_framed(content_type: str) -> bool:
    """Whether a body is in frames."""
    return "amazon.eventstream" in content_type


def begins_framed(data: bytes) -> bool:
    """Whether a body begins with a whole frame; its headers are not asked."""
    try:
        return next(_parts(data), None) is not None
    except Unreadable:
        return False


def frames(data: bytes) -> Iterator[bytes]:
    """The payloads of the frames, in order; raises Unreadable at a torn or damaged one."""
    return (payload for _, payload in _parts(data))


def named_events(data: bytes) -> Iterator[tuple[str, Json]]:
    """The name of each event, or of each exception, and its value; raises Unreadable."""
    for headers, payload in _parts(data):
        told = dict(_headers(headers))
        try:
            yield told.get(":event-type") or told.get(":exception-type", ""), decode(payload)
        except (ValueError, RecursionError):
            raise Unreadable("binary event stream holds no events") from None


def _parts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 0
    while at < len(data):
        if len(data) - at < _PRELUDE.size:
            raise Unreadable("binary event stream is torn")
        size, head, crc = _PRELUDE.unpack_from(data, at)
        end = at + size
        if crc != zlib.crc32(data[at : at + 8]) or size < 16 + head or end > len(data):
            raise Unreadable("binary event stream is torn")
        if _CRC.unpack_from(data, end - 4)[0] != zlib.crc32(data[at : end - 4]):
            raise Unreadable("binary event stream is torn")
        payload = at + _PRELUDE.size + head
        yield data[at + _PRELUDE.size : payload], data[payload : end - 4]
        at = end


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    """Text headers up to the first of another type; they name the event."""
    at = 0
    while at < len(data):
        name, at = data[at + 1 : at + 1 + data[at]], at + 1 + data[at]
        if data[at : at + 1] != _TEXT or at + 3 > len(data):
            return
        size = int.from_bytes(data[at + 1 : at + 3], "big")
        value = data[at + 3 : at + 3 + size]
        yield name.decode("utf-8", "replace"), value.decode("utf-8", "replace")
        at += 3 + size


def as_sse(data: bytes) -> bytes:
    """A stream of model events in base64 as server-sent events; raises Unreadable."""
    return b"".join(_events(data))


def readable_sse(data: bytes) -> bytes:
    """The server-sent events of a stream up to the first frame that is torn or holds none."""
    found: list[bytes] = []
    with suppress(Unreadable):
        found.extend(_events(data))
    return b"".join(found)


def _events(data: bytes) -> Iterator[bytes]:
    for headers, payload in _parts(data):
        name = dict(_headers(headers)).get(":exception-type", "")
        yield _error_event(name, payload) if name else b"data: " + _event(payload) + b"\n\n"


def _event(payload: bytes) -> bytes:
    try:
        return base64.b64decode(decode(payload)["bytes"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unreadable("binary event stream holds no model events") from None


def _error_event(name: str, payload: bytes) -> bytes:
    said = f.mapping(f.parse(payload))
    message = f.text(said.get("message")) or f.text(said.get("Message")) or name
    return sse.frame("error", error={"type": name, "message": message})


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """A frame with its checksums."""
    head = b"".join(map(_header, headers, headers.values()))
    sizes = _SIZES.pack(_PRELUDE.size + len(head) + len(payload) + _CRC.size, len(head))
    before = b"".join((sizes, _CRC.pack(zlib.crc32(sizes)), head, payload))
    return before + _CRC.pack(zlib.crc32(before))


def _header(name: str, value: str) -> bytes:
    said = value.encode()
    return b"".join((bytes((len(name),)), name.encode(), _TEXT, _SIZE.pack(len(said)), said))


def event_frame(event: bytes) -> bytes:
    """A frame that holds an event of a model."""
    payload = {"bytes": base64.b64encode(event).decode(), "p": _PADDING}
    return _named(":event-type", "chunk", "event", payload)


def exception_frame(name: str, message: str) -> bytes:
    """A frame that ends a stream with an error."""
    return _named(":exception-type", name, "exception", {"message": message})


def _named(kind: str, name: str, message_type: str, payload: Json) -> bytes:
    headers = {kind: name, ":content-type": "application/json", ":message-type": message_type}
    return frame(headers, encode(payload))


def split_events(data: bytes) -> tuple[list[bytes], bytes]:
    """The server-sent events that are whole in a piece of a stream, and the rest after them."""
    ends = [found.end() for found in _EVENT_END.finditer(data)]
    starts = [0, *ends]
    return [data[a:b] for a, b in zip(starts, ends, strict=False)], data[starts[-1] :]
