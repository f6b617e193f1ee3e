"""The arguments of a call: a text on this wire, an object in the core.

A model writes that text, so it may be anything. A JSON object is read as one; whatever else it is
(cut off, empty, a list) stays the text that it is, so that nobody takes it for whole arguments, and
is written again letter by letter.
"""

from __future__ import annotations

import json

import msgspec

from harness.core.values.messages import Json
from harness.providers.shared.codec import encode

_decode = msgspec.json.Decoder().decode


def arguments_from(text: str) -> Json:
    """The object that the arguments are, else the text itself."""
    try:
        value = _read(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def arguments_to(value: Json) -> str:
    """The text of a call's arguments; a text stands for itself."""
    return value if isinstance(value, str) else encode(value).decode()


def _read(text: str) -> Json:
    """The value of a JSON text; half a character is no Unicode, but the provider sends it."""
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is out of range")
    return value
