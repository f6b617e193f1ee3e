"""What `claude -p --output-format stream-json` prints: JSON Lines, an event a line.

Messages come as in a session log, under other names: `session_id`, and `parent_tool_use_id` for
what a sub-agent says. The prompt is an argument of the command, so most streams begin with an
answer. Pieces of messages (`stream_event`) are skipped, because the whole messages follow. A
`compact_boundary` begins a new history. `error` marks what the program says itself in place of an
answer. The last line says how the run ended.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.core.values.messages import Message
from harness.providers.shared import json_fields as f
from harness.recordings.message_lines import ROLES, LoggedSession, message_on, note_type
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, entries, first_objects
from harness.recordings.transcripts import Recording

_TYPES = frozenset({"system", "result", "stream_event", "rate_limit_event", *ROLES})


def _is_claude_stream(data: bytes) -> bool:
    """Whether the first event of a known type is one of a stream; a log says `sessionId`."""
    for value in first_objects(data):
        if f.text(value.get("type")) in _TYPES:
            is_first = value.get("type") == "system" and value.get("subtype") == "init"
            return "sessionId" not in value and (is_first or _is_event(value))
    return False


def _is_event(value: dict[str, Any]) -> bool:
    """Whether a line has the field that each event has, and is not its own message."""
    return isinstance(value.get("session_id"), str) and "role" not in value


@recognised_by(_is_claude_stream)
def claude_stream(lines: Iterable[bytes]) -> Recording:
    """Claude Code output (--output-format stream-json).

    A torn or malformed line is skipped and noted. Raises InputError when no line holds a message.
    """
    sessions: dict[tuple[str, str], LoggedSession] = {}
    notes, kept = Notes(), SizeBound()
    for entry in entries(lines, notes):
        key = f.text(entry.value.get("session_id")), f.text(entry.value.get("parent_tool_use_id"))
        session = sessions.setdefault(key, LoggedSession(_name(*key)))
        message = _message(entry, session, notes)
        if message is not None:
            kept.add(entry)
            session.take(message, entry.value["message"], str(entry.number))
            if message.role == "assistant" and (kind := f.text(entry.value.get("error"))):
                session.fail(message, type_=kind)
    spoken = [session for session in sessions.values() if session.found]
    if not spoken:
        raise notes.refusal("no line holds a message of user or assistant")
    transcripts = tuple(session.transcript() for session in spoken)
    return notes.on(Recording(transcripts))


def _name(session: str, parent: str) -> str:
    return ", ".join(filter(None, (session or "session", f"agent of {parent}" if parent else "")))


def _message(entry: LogEntry, session: LoggedSession, notes: Notes) -> Message | None:
    """The message of a line; None for another event, of which the session takes what it says."""
    value = entry.value
    match value:
        case {"type": "user" | "assistant" as role, "message": {**said}}:
            value["message"] = {"role": role, **said}
        case {"type": "user" | "assistant"}:
            pass
        case {"type": "system", "subtype": "init"}:
            session.announced = session.announced or f.text(value.get("model"))
            return None
        case {"type": "system", "subtype": "compact_boundary"}:
            session.begin_anew()
            return None
        case {"type": "result", "is_error": True}:
            notes.add(
                entry.number, f"the run ended as {f.text(value.get('subtype')) or 'an error'}"
            )
            return None
        case _:
            if (kind := f.text(value.get("type"))) not in _TYPES:
                note_type(kind, notes)
            return None
    return message_on(entry, notes)
