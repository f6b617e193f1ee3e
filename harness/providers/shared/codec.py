"""JSON in and out for every provider, including what strict JSON cannot say, and its size.

Models emit lone surrogates, which strict encoders refuse. Replies must carry them as escapes, so
`encode` and `decode` fall back to the standard library. The body of a request is read without this
fallback: a provider refuses it, and `reason` gives the text of the refusal. A token is four bytes
of compact JSON, because the real tokenizers are not public. White space, escapes and cache marks do
not change the count.
"""

from __future__ import annotations

import json
import math
import re

import msgspec

from harness.core.values.messages import Json

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Unreadable(Exception):
    """A body that cannot be read; the text is the reason."""


def encode(value: Json) -> bytes:
    """`value` as compact JSON; text that is not Unicode is escaped."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value)
        return json.dumps(plain, separators=(",", ":")).encode()


def decode(data: bytes | str) -> Json:
    """The value of a JSON text; raises ValueError when it is not JSON."""
    try:
        return _decode(data)
    except msgspec.MsgspecError:
        return json.loads(data)


def arguments_from(text: str) -> Json:
    """A call's arguments from their text; text that is not JSON is returned unchanged.

    A model writes that text, and it may be cut off: a string cannot be mistaken for whole
    arguments.
    """
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return text


def arguments_to(value: Json) -> str:
    """The text of a call's arguments; arguments that were never JSON are that text itself."""
    if isinstance(value, str) and arguments_from(value) == value:
        return value
    return encode(value).decode()


def written_arguments_from(text: str) -> Json:
    """The object that a call's arguments are, else the text itself, letter by letter: for an API
    whose calls hold their arguments as a text."""
    value = arguments_from(text)
    return value if isinstance(value, dict) else text


def written_arguments_to(value: Json) -> str:
    """The text of a call's arguments; a text stands for itself."""
    return value if isinstance(value, str) else encode(value).decode()


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is out of range")
    return value


BYTES_PER_TOKEN = 4


def size_bytes(value: Json) -> int:
    """The size of a value as compact JSON, in bytes."""
    return len(encode(value))


def tokens(size: int) -> int:
    """The number of tokens in `size` bytes; every message costs at least one."""
    return max(1, size // BYTES_PER_TOKEN)


# Any escape is matched, so that the `u` after an escaped backslash does not begin one.
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)


def reason(body: bytes) -> str:
    """What is wrong with the body and where: `...: line L column C (char N)`."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        return "str is not valid UTF-8: " + _place(body[: error.start].decode())
    at = _lone_surrogate(text)
    if at is not None:
        return "no low surrogate in string: " + _place(text[:at])
    try:
        json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return "recursion limit exceeded"
    except ValueError as error:
        return str(error)
    return "number out of range"  # the standard library reads 1e999, strict readers refuse it


def _place(before: str) -> str:
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return f"line {line} column {column} (char {len(before)})"


def _lone_surrogate(text: str) -> int | None:
    """The place of the first escaped half of a surrogate pair without its other half."""
    high = None
    for match in _ESCAPE.finditer(text):
        code = int(match[1], 16) if match[1] else 0
        if 0xDC00 <= code < 0xE000 and high is not None and high.end() == match.start():
            high = None
            continue
        if high is not None or 0xDC00 <= code < 0xE000:
            return (high or match).start()
        high = match if 0xD800 <= code < 0xDC00 else None
    return None if high is None else high.start()


def _no_constant(name: str) -> Json:
    raise ValueError(f"unexpected constant {name}")
