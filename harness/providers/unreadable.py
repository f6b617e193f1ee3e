"""Why a body is no JSON, in the words that the API uses for it.

Only called when a body was refused, so it may look at every byte again. The API's parser names a
lone surrogate in its own way (anthropics/claude-code#86560); other texts are those of Python's
parser, whose place suffix has the same form.
"""

from __future__ import annotations

import json
import re

from harness.core.values.messages import Json

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
    return "number out of range"


def _place(before: str) -> str:
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return f"line {line} column {column} (char {len(before)})"


def _lone_surrogate(text: str) -> int | None:
    """Where the first escaped half of a character stands that has no other half."""
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
