"""The arguments of a call: text on this wire, a JSON value in the core.

Text that is no JSON, as it comes from an answer that was cut, is kept as it is, so that nobody
takes it for whole arguments.
"""

from __future__ import annotations

import json
import math

from harness.core.values.messages import Json
from harness.providers.shared.codec import encode


def arguments_from(text: str) -> Json:
    """The value of a call's arguments; the text itself when it is no JSON."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def arguments_to(value: Json) -> str:
    """The text of a call's arguments."""
    if isinstance(value, str) and arguments_from(value) == value:
        return value
    return encode(value).decode()


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is out of range")
    return value
