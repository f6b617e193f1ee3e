"""JSON in and out, for every wire, including what strict JSON cannot say.

Half an emoji (a lone surrogate) is a real production value: models emit it, Python keeps it in a
`str`, and strict encoders refuse it. Replies must be able to carry it, as an escape, so encoding
and decoding fall back to the standard library where msgspec says no. Requests never use the
fallback: there the refusal is the very answer that the provider gives.
"""

from __future__ import annotations

import json

import msgspec

from harness.core.values.messages import Json

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def encode(value: Json) -> bytes:
    """`value` as compact JSON; text that is not Unicode is escaped."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        return json.dumps(plain, separators=(",", ":")).encode()


def decode(data: bytes | str) -> Json:
    """The value of a JSON text; raises ValueError when it is none."""
    try:
        return _decode(data)
    except msgspec.MsgspecError:
        return json.loads(data)


def input_text(value: Json) -> str:
    """A call's input as it is streamed. A text that is no JSON is input that was cut off, and goes
    out as it is."""
    if isinstance(value, str) and value and input_from(value) == value:
        return value
    return encode(value).decode()


def input_from(text: str) -> Json:
    """A call's input from what was streamed; what is no JSON stays the text that came."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")
