"""The names of JSON types, as the API's messages have them."""

from __future__ import annotations

from harness.core.values.messages import Json

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    type(None): "null",
}


def type_name(value: Json) -> str:
    """What a value is: `an object`, `a string`, `null`."""
    return _NAMES.get(type(value), "an object")
