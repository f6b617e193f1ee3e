"""The binary event stream of AWS: frames with checksums, each holding one event of a model.

Layout: frame length, header length, CRC of these eight bytes, headers, payload, CRC of all before.
InvokeModel wraps the model's events as base64 in JSON. Converse names an event in `:event-type` and
an error in `:exception-type`; the payload is its JSON.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator

from harness.core.values.messages import Json
from harness.providers.shared.codec import decode
from harness.recordings.http_interaction import Unreadable

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_TEXT = b"\x07"
"""The type of a header whose value is text."""


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
    return b"".join(b"data: " + _event(payload) + b"\n\n" for payload in frames(data))


def _event(payload: bytes) -> bytes:
    try:
        return base64.b64decode(decode(payload)["bytes"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unreadable("binary event stream holds no model events") from None
