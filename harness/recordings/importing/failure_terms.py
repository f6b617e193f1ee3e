"""How tools say that they failed when no flag does: an exit status, a JSON field, a first word.

Most programs log a failure as an ordinary result. A scenario scripts such a result as an error with
the same text. So the agent under test sees a failure like that of any other tool.
"""

from __future__ import annotations

import re
from typing import Any

from harness.providers.shared.json_fields import parse

_EXIT_CODES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode", "return_code")
_GOOD = ("ok", "success")
_BAD = ("is_error", "isError")
_BAD_STATUSES = ("error", "failed", "failure")

_FIRST_WORD = re.compile(
    r"\W{0,4}(?:[\w.]{0,60}(?:error|exception)|fatal|failed|failure)\b[^\n:]{0,60}:\s"
    r"|\s{0,4}Traceback \(most recent call last\)",
    re.IGNORECASE,
)
_LINE_MAX = 300
"""The number of characters of a line that are searched."""

# A status other than 0, at the end of its line or of an XML element.
_EXIT = re.compile(
    r"\b(?:exit(?:ed with)?[ _-]?(?:code|status)|returncode)\W{0,3}[1-9]\d*(?:\W{0,3}\Z|</)", re.I
)


def says_that_it_failed(text: str) -> bool:
    """Whether a result says in its tool's own terms that the tool failed.

    A JSON object says it by a field: an exit status, `ok` or `success` false, an `error`. Other
    text says it by its first word, or by an exit status on its first or last line.
    """
    if text.lstrip().startswith("{") and isinstance(value := parse(text), dict):
        return _failed(value)
    lines = text.strip().split("\n")
    ends = (lines[0][:_LINE_MAX], lines[-1][-_LINE_MAX:])
    return bool(_FIRST_WORD.match(text) or any(map(_EXIT.search, ends)))


def _failed(value: dict[str, Any]) -> bool:
    about = value.get("metadata")
    places = (value, about) if isinstance(about, dict) else (value,)
    codes = (place.get(name) for place in places for name in _EXIT_CODES)
    return (
        any(type(code) is int and code != 0 for code in codes)
        or any(value.get(name) is False for name in _GOOD)
        or any(value.get(name) is True for name in _BAD)
        or value.get("status") in _BAD_STATUSES
        or bool(value.get("error"))
    )
