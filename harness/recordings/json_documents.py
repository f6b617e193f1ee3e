"""JSON documents: one value a file, read whole and so bounded.

A parsed JSON value takes about ten times its text in memory. A detector searches the bytes for the
names that its format requires before it parses.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from functools import lru_cache

from harness.core.values.errors import InputError
from harness.core.values.messages import Json
from harness.providers.shared.codec import decode

MAX_BYTES = 128 * 1024 * 1024
"""The most that is read as one value."""

UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)
"""How a text in UTF-16 begins."""

_OPENING = re.compile(rb"\s*[\[{]")
_OBJECT = re.compile(rb"\s*\{")


def as_utf8(data: bytes) -> bytes:
    """The bytes without a mark of their encoding; UTF-16, which some shells write, as UTF-8."""
    if not data.startswith(UTF16):
        return data.removeprefix(BOM_UTF8)
    try:
        return data.decode("utf-16").encode("utf-8", "replace")
    except UnicodeDecodeError as error:
        raise InputError(
            "begins as UTF-16 and is not UTF-16", "line 1", more=error.reason
        ) from None


def is_json(data: bytes) -> bool:
    """Whether the bytes begin as an object or a list does."""
    return _OPENING.match(data) is not None


def load(data: bytes) -> Json:
    """The value of a document; raises InputError with the line at which it ends being one."""
    if len(data) > MAX_BYTES:
        size, most = len(data) // 1024**2, MAX_BYTES // 1024**2
        more = f"{size} MiB of JSON, at most {most} are read at once"
        raise InputError("too large", "line 1", more=more)
    try:
        return _last_value(data)
    except json.JSONDecodeError as error:
        raise InputError("not JSON", f"line {error.lineno}", more=error.msg) from None
    except RecursionError:
        raise InputError("nested too deeply", "line 1") from None
    except UnicodeDecodeError:
        raise not_utf8(data) from None
    except ValueError as error:
        raise InputError("not JSON", "line 1", more=str(error)) from None


# The recognisers of six formats, and then a reader, ask for the value of one document: decoding it
# for each took a third of the time of judging a chat.
_last_value = lru_cache(maxsize=1)(decode)

forget = _last_value.cache_clear
"""Let go of the last document's value, once its file is read."""


def not_utf8(data: bytes) -> InputError:
    """The refusal of bytes that are not UTF-8, with the line of the first such byte."""
    line = 1
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
    return InputError("not UTF-8", f"line {line}", more="save the file in that encoding")


def is_lines(data: bytes) -> bool:
    """Whether an object fills the first line and another one begins after it."""
    end = data.find(b"\n")
    first = data[: max(end, 0)].strip()
    return first[:1] == b"{" and first[-1:] == b"}" and _OBJECT.match(data, end) is not None


def peek(data: bytes, *names: bytes) -> Json:
    """The value of a document that holds these bytes; None when it does not, or is not JSON.

    JSON Lines are not one value. The first line shows it, so a long log is not searched.
    """
    if not is_json(data) or is_lines(data) or not all(name in data for name in names):
        return None
    try:
        return load(data)
    except InputError:
        return None
