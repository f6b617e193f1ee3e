"""The binary event stream of AWS: frames with a checksum, each holding one event of a model.

A frame is its length, the length of its headers, a CRC of these eight bytes, headers, payload,
and a CRC of all before it. The payload of a model's event is JSON with the event in base64.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterator

from harness.incidents.bodies import Unreadable
from harness.wires.codec import decode

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")


def frames(data: bytes) -> Iterator[bytes]:
    """The payloads of the frames, in order; raises Unreadable at a torn or damaged one."""
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
        yield data[at + _PRELUDE.size + head : end - 4]
        at = end


def as_sse(data: bytes) -> bytes:
    """A stream of model events in base64 as server-sent events; raises Unreadable."""
    return b"".join(b"data: " + _event(payload) + b"\n\n" for payload in frames(data))


def _event(payload: bytes) -> bytes:
    try:
        return base64.b64decode(decode(payload)["bytes"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Unreadable("binary event stream holds no model events") from None
