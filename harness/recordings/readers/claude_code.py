"""Claude Code session logs: JSON Lines, several transcripts in one file.

Lines with equal (sessionId, isSidechain, agentId) are a transcript, in file order. Parent links may
be circular, so they are noted and not followed. An `isCompactSummary` line replaces all before it.
`isApiErrorMessage` marks what the program says itself in place of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from harness.core.values.messages import Message
from harness.providers.shared import json_fields as f
from harness.recordings import session_log
from harness.recordings.message_lines import ROLES, LoggedSession, message_on, note_type
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import (
    LogEntry,
    Notes,
    SizeBound,
    entries,
    first_objects,
    known_keys,
)
from harness.recordings.transcripts import Recording

_OTHER_TYPES = (
    "summary", "system", "progress", "queue-operation", "file-history-snapshot", "attachment",
    "last-prompt", "api-request", "cost-state",
)  # fmt: skip
"""Types that come without a session's id, or came so once."""

_NOT_OURS = frozenset({"event", "payload", "parentId", "session_id"})
"""What entries of other formats have and these have not."""


_OURS = frozenset({"message", "uuid", "sessionId"})


class _Entry(TypedDict, total=False):
    """The keys of an entry that are read; any value may stand there."""

    type: Any
    message: Any
    uuid: Any
    parentUuid: Any
    sessionId: Any
    agentId: Any
    isSidechain: Any
    isMeta: Any
    isCompactSummary: Any
    isApiErrorMessage: Any
    apiErrorStatus: Any
    error: Any


_value_of = known_keys(_Entry)


def _is_claude_code(data: bytes) -> bool:
    """Whether the first entry of a known type is one of a session log.

    Qwen Code took over the envelope of its entries, and its messages have `parts`. Gemini CLI has
    the names of its types, below a line with a `projectHash`.
    """
    for value in first_objects(data):
        if "parts" in f.mapping(value.get("message")) or "projectHash" in value:
            return False
        if "content" in value and _OURS.isdisjoint(value):  # Grok CLI says it without an envelope
            return False
        if value.get("type") in (*ROLES, *_OTHER_TYPES) or {"type", "sessionId"} <= value.keys():
            return not _NOT_OURS & value.keys()
    return False


@recognised_by(_is_claude_code)
def claude_code(lines: Iterable[bytes]) -> Recording:
    """Claude Code session log.

    A torn or malformed line is skipped and noted. Raises InputError when no line holds a message.
    """
    sessions: dict[tuple[bool, str, str], LoggedSession] = {}
    notes, kept, names = Notes(), SizeBound(), _Names()
    for entry in entries(lines, notes, _value_of):
        message = _message(entry, notes)
        if message is not None:
            kept.add(entry)
            names.add(entry, notes)
            key = _key(entry.value)
            if key not in sessions:
                sessions[key] = LoggedSession(_name(*key))
            _take(sessions[key], message, entry)
    names.note_circles(notes)
    if not sessions:
        raise notes.refusal("no line holds a message of user or assistant")
    in_order = sorted(sessions, key=lambda key: key[0])
    transcripts = tuple(sessions[key].transcript() for key in in_order)
    return notes.on(Recording(transcripts))


def _take(session: LoggedSession, message: Message, entry: LogEntry) -> None:
    value = entry.value
    if value.get("isCompactSummary") is True:
        session.begin_anew()
    session.take(message, value["message"], str(entry.number))
    if message.role == "assistant" and value.get("isApiErrorMessage") is True:
        session.fail(message, value.get("apiErrorStatus"), value.get("error"))


class _Names:
    """Entry names, and irregularities among them."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._parents: dict[str, str] = {}

    def add(self, entry: LogEntry, notes: Notes) -> None:
        name, parent = entry.value.get("uuid"), entry.value.get("parentUuid")
        if not isinstance(name, str) or not name:
            return
        if name in self._lines:
            notes.add(entry.number, f"its uuid is that of line {self._lines[name]}")
        else:
            self._lines[name] = entry.number
            self._parents[name] = parent if isinstance(parent, str) else ""

    def note_circles(self, notes: Notes) -> None:
        for name in session_log.circular_entries(self._parents):
            notes.add(self._lines[name], "its parents lead back to it")


def _message(entry: LogEntry, notes: Notes) -> Message | None:
    """The message of a line; None for a line that has none, with a note when it should have."""
    value = entry.value
    kind = value.get("type")
    if kind not in ROLES:
        note_type(f.text(kind), notes)
        return None
    if value.get("isMeta") is True:
        said = f.objects(f.mapping(value.get("message")).get("content"))
        if any(block.get("type") == "tool_result" for block in said):
            notes.unknown("a result in a line that the program marks as its own")
        return None
    return message_on(entry, notes)


def _key(entry: dict[str, Any]) -> tuple[bool, str, str]:
    session, agent = entry.get("sessionId"), entry.get("agentId")
    return entry.get("isSidechain") is True, str(session or ""), str(agent or "")


def _name(sidechain: bool, session: str, agent: str) -> str:
    parts = (session, "sidechain" if sidechain else "", f"agent {agent}" if agent else "")
    return ", ".join(filter(None, parts)) or "session"
