"""The face of the readers: bytes of any known format in, a recording out.

The format is told by the content, never by a file's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from harness.core.history import history
from harness.core.values.errors import InputError, nearest
from harness.recordings import json_documents
from harness.recordings.readers import (
    atif,
    autogpt,
    chat,
    claude_code,
    codex,
    compact,
    har,
    hermes,
    intercode,
    mini_swe_agent,
    moatless,
    otel,
    pi,
    swe_agent,
    vcr,
)
from harness.recordings.transcripts import Recording


class Format(msgspec.Struct, frozen=True):
    """A format: what it is, how its bytes are told, and its reader.

    `read_lines` is the reader of a format of JSON Lines, which needs no more than a line at a time;
    such a format is told by its first lines.
    """

    title: str
    looks_like: Callable[[bytes], bool]
    read: Callable[[bytes], Recording]
    read_lines: Callable[[Iterable[bytes]], Recording] | None = None


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
    "claude_code": Format(
        "Claude Code session log", claude_code.looks_like, claude_code.read, claude_code.read_lines
    ),
    "codex": Format("Codex rollout", codex.looks_like, codex.read, codex.read_lines),
    "hermes": Format("hermes state.db", hermes.looks_like, hermes.read),
    "pi": Format("pi session", pi.looks_like, pi.read, pi.read_lines),
    "otel": Format("OpenTelemetry spans", otel.looks_like, otel.read),
    "compact": Format("cassette in the compact form", compact.looks_like, compact.read),
    "vcr": Format("VCR cassette", vcr.looks_like, vcr.read),
    "har": Format("HTTP Archive", har.looks_like, har.read),
    "atif": Format("Agent Trajectory Interchange Format", atif.looks_like, atif.read),
    "swe_agent": Format("SWE-agent trajectory", swe_agent.looks_like, swe_agent.read),
    "mini_swe_agent": Format(
        "mini-swe-agent trajectory", mini_swe_agent.looks_like, mini_swe_agent.read
    ),
    "moatless": Format("moatless tree", moatless.looks_like, moatless.read),
    "intercode": Format("InterCode results", intercode.looks_like, intercode.read),
    "autogpt": Format("AutoGPT history or state", autogpt.looks_like, autogpt.read),
    "chat_lines": Format(
        "chat messages as JSON Lines", chat._are_chats, chat_lines.read, chat.read_lines
    ),
    "chat_json": Format("chat messages as JSON", chat.is_chat, chat.chat_json),
}
"""The formats, in the order in which they are tried: chats, which fit most, come last."""

_HEAD_BYTES = 8192


def format_of(data: bytes) -> str:
    """The name of the format of the bytes; raises InputError when none fits."""
    for name, kind in FORMATS.items():
        if kind.looks_like(data):
            return name
    if json_documents.is_json(data) and not json_documents.is_lines(data):
        json_documents.load(data)
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


def line_format(head: bytes, format: str = "auto") -> str:
    """The name of the format when it is read a line at a time; empty for any other.

    `head` holds the first line at least. Raises InputError for an unknown name, and a head that is
    empty or binary.
    """
    _check_name(format)
    if head.startswith(json_documents.UTF16):
        return ""
    _check_text(head)
    asked = FORMATS if format == "auto" else {format: FORMATS[format]}
    told = (n for n, kind in asked.items() if format != "auto" or kind.looks_like(head))
    name = next(told, "")
    return name if name and FORMATS[name].read_lines else ""


def read_lines(lines: Iterable[bytes], name: str, format: str) -> Recording:
    """A recording from its lines; raises InputError that names `name` and the line."""
    kind = FORMATS[format]
    try:
        return kind.read_lines(lines) if kind.read_lines else kind.read(b"".join(lines))
    except InputError as error:
        raise InputError(error.what, f"{name}: {error.place}") from None


def _check_name(format: str) -> None:
    if format != "auto" and format not in FORMATS:
        raise InputError(f"no format is named {format!r}; {nearest(format, FORMATS)}", "--format")


def read(data: bytes, name: str = "", format: str = "auto") -> Recording:
    """A recording; raises InputError that names `name` and the place in it.

    `format` is a name of FORMATS or `auto`.
    """
    _check_name(format)
    try:
        data = json_documents.as_utf8(data)
        _check_text(data)
        return FORMATS[format_of(data) if format == "auto" else format].read(data)
    except InputError as error:
        raise InputError(error.what, ": ".join(filter(None, (name, error.place)))) from None
    except RecursionError:
        raise InputError("nested too deeply", name) from None
