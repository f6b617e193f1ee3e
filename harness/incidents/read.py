"""The face of the readers: bytes of any known format in, a recording out.

The format is told by the content, never by a file's name.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.core import history
from harness.core.errors import InputError, nearest
from harness.incidents import claude_code, vcr
from harness.incidents.transcripts import Recording


class Format(msgspec.Struct, frozen=True):
    """A format: what it is, how its bytes are told, and its reader."""

    title: str
    looks_like: Callable[[bytes], bool]
    read: Callable[[bytes], Recording]


def is_history(data: bytes) -> bool:
    """Whether the first line is an event of ours."""
    try:
        first = msgspec.json.decode(data.lstrip().partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("event") in ("started", "message", "value")


def read_history(data: bytes) -> Recording:
    """A history of ours; raises InputError with the line that is no event."""
    try:
        data.decode()
        return Recording("history", history=history.decode(data))
    except UnicodeDecodeError as error:
        raise InputError("no UTF-8", _line(data, error.start)) from None
    except (msgspec.MsgspecError, RecursionError) as error:
        place, _, what = str(error).partition(": ")
        raise InputError(f"no event of loop-harness: {what or place}", what and place) from None


FORMATS: dict[str, Format] = {
    "history": Format("history of loop-harness", is_history, read_history),
    "claude_code": Format("Claude Code session log", claude_code.looks_like, claude_code.read),
    "vcr": Format("VCR cassette", vcr.looks_like, vcr.read),
}
"""The formats, in the order in which they are tried."""

_HEAD_BYTES = 8192


def format_of(data: bytes) -> str:
    """The name of the format of the bytes; raises InputError when none fits."""
    for name, kind in FORMATS.items():
        if kind.looks_like(data):
            return name
    tried = ", ".join(f"{name} ({kind.title})" for name, kind in FORMATS.items())
    raise InputError(f"format not recognised; tried {tried}", "line 1")


def _check_text(data: bytes) -> None:
    if not data.strip():
        raise InputError("the file is empty", "line 1")
    at = data.find(b"\0", 0, _HEAD_BYTES)
    if at >= 0:
        raise InputError(f"binary data: byte {at} is zero", _line(data, at))


def _line(data: bytes, at: int) -> str:
    number = data.count(b"\n", 0, at) + 1
    return f"line {number}"


def read(data: bytes, name: str = "", format: str = "auto") -> Recording:
    """A recording; raises InputError that names `name` and the place in it.

    `format` is a name of FORMATS or `auto`.
    """
    if format != "auto" and format not in FORMATS:
        raise InputError(f"no format is named {format!r}; {nearest(format, FORMATS)}", "--format")
    try:
        _check_text(data)
        return FORMATS[format_of(data) if format == "auto" else format].read(data)
    except InputError as error:
        raise InputError(error.what, ": ".join(filter(None, (name, error.place)))) from None
