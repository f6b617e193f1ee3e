"""Chats of which each line of a file is one message: the store that most agents write themselves.

Many programs write this form, so little is sure. A row is the message, or holds it under `message`
beside a time and an id. Rows may name their session; else the file is one. Other rows are events of
the program. An event that names a call may be a result that we do not understand, and makes the
session doubtful.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import Json
from harness.providers.openai_chat.framework_messages import is_message, plain
from harness.providers.shared import json_fields as f
from harness.recordings.chat_messages import transcript_of
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, first_objects, taken
from harness.recordings.transcripts import Recording

_Row = dict[str, Json]

_SPEAKERS = frozenset({"user", "assistant"})
"""The roles by which a file is recognised: rows with a `role` are common in other data."""

_SESSIONS = (
    "session_id", "sessionId", "session", "conversation_id", "conversationId", "thread_id",
    "threadId", "chat_id",
)  # fmt: skip
"""The names under which a row tells its session, the first that is there."""

_WORDS = ("text", "message")
"""Where rows of a role keep their words, if not in `content`."""

_CALLS = frozenset({"call_id", "tool_call_id", "tool_use_id", "toolCallId", "tool_calls"})
"""What only a call or a result names."""


def _message(row: _Row) -> _Row | None:
    """The message that a row is or holds; items of the Responses API are some without a role."""
    for said in (row, f.mapping(row.get("message"))):
        if is_message(said) or (isinstance(said.get("type"), str) and "call_id" in said):
            return said
    words = next((row[name] for name in _WORDS if isinstance(row.get(name), str)), None)
    return None if words is None or "role" not in row else {**row, "content": words}


def _is_spoken(row: _Row) -> bool:
    return plain(_message(row) or {}).get("role") in _SPEAKERS


@recognised_by(lambda data: any(map(_is_spoken, first_objects(data))), fits_others=True)
def chat_rows(lines: Iterable[bytes]) -> Recording:
    """chat messages as JSON Lines, one a line.

    A row without a message is noted. Raises InputError when no line holds a message.
    """
    sessions: dict[str, list[Json]] = {}

    def take(entry: LogEntry, notes: Notes, kept: SizeBound) -> None:
        message = _message(entry.value)
        if message is None:
            _note(entry, notes)
            return
        kept.add(entry)
        sessions.setdefault(_session(entry.value), []).append(message)

    notes = taken(lines, take)
    transcripts = tuple(filter(None, (transcript_of(*one) for one in sessions.items())))
    if not transcripts:
        raise notes.refusal("no line holds a message")
    return notes.on(Recording(transcripts))


def _session(row: _Row) -> str:
    named = (row[name] for name in _SESSIONS if name in row)
    return next((f.as_text(value) for value in named if value), "session")


def _note(entry: LogEntry, notes: Notes) -> None:
    if _tells_of_a_call(entry.value, depth=3):
        notes.unknown(f"a line of the type {_kind(entry.value)[:40]!r}")
    else:
        notes.add(entry.number, "holds no message, skipped")


def _tells_of_a_call(value: Json, depth: int) -> bool:
    """Whether an object, or one that it holds, names a call or has the kind of one."""
    said = f.mapping(value)
    if is_of_a_tool(_kind(said)) or not _CALLS.isdisjoint(said):
        return True
    return depth > 1 and any(_tells_of_a_call(held, depth - 1) for held in said.values())


def _kind(said: _Row) -> str:
    return f.text(said.get("type")) or f.text(said.get("role"))
