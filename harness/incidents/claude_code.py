"""Claude Code session logs: JSON Lines, several transcripts in one file.

A transcript is what shares (sessionId, isSidechain, agentId), in file order. A message of the
assistant is logged block by block, on lines that share `message.id`, and other lines may stand
between them: a parallel batch reads call, result, call, result. The API saw one message with the
calls and one with the results, so that is what is read. Lines of other types, and those that are
`isMeta`, are the program's own and are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from harness.core.errors import InputError
from harness.core.messages import Block, Json, Message, ToolResult
from harness.incidents.transcripts import Recording, Transcript, encodable
from harness.wires.anthropic.blocks import Malformed, message_from
from harness.wires.codec import decode

_TYPES = ("user", "assistant")
_OTHER_TYPES = (
    "summary",
    "system",
    "progress",
    "queue-operation",
    "file-history-snapshot",
    "attachment",
)


class _Draft:
    """A message as its lines come in."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.blocks: list[Block] = []
        self.stop = ""

    @property
    def only_results(self) -> bool:
        return self.role == "user" and all(isinstance(b, ToolResult) for b in self.blocks)


class _Session:
    """A transcript as its lines come in."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = ""
        self.drafts: list[_Draft] = []
        self._by_id: dict[str, _Draft] = {}

    def take(self, message: Message, value: dict[str, Json]) -> None:
        """Take in the message of a line."""
        draft = self._draft(message, value.get("id"))
        draft.blocks.extend(message.blocks)
        if isinstance(value.get("stop_reason"), str):
            draft.stop = value["stop_reason"]
        if isinstance(value.get("model"), str) and not self.model:
            self.model = value["model"]

    def _draft(self, message: Message, id_: Json) -> _Draft:
        """The message that a line belongs to: that of its id, the results before it, a new one."""
        known = self._by_id.get(id_) if isinstance(id_, str) and id_ else None
        if message.role == "assistant" and known is not None:
            return known
        last = self.drafts[-1] if self.drafts else None
        results = message.role == "user" and message.blocks and not message.text
        if last is not None and results and last.only_results and _all_results(message):
            return last
        draft = _Draft(message.role)
        self.drafts.append(draft)
        if message.role == "assistant" and isinstance(id_, str):
            self._by_id[id_] = draft
        return draft

    def transcript(self) -> Transcript:
        """What came in."""
        return Transcript(
            name=self.name,
            messages=encodable(tuple(Message(d.role, tuple(d.blocks)) for d in self.drafts)),
            wire="anthropic",
            model=self.model,
            stops={n: draft.stop for n, draft in enumerate(self.drafts) if draft.stop},
            answered=bool(self.drafts) and self.drafts[-1].role == "assistant",
        )


def _all_results(message: Message) -> bool:
    return all(isinstance(block, ToolResult) for block in message.blocks)


def looks_like(data: bytes) -> bool:
    """Whether one of the first lines is an entry of a session log."""
    for line in data.split(b"\n", 20)[:20]:
        value = _value(line)
        if isinstance(value, dict) and value.get("type") in (*_TYPES, *_OTHER_TYPES):
            return "event" not in value
    return False


def read(data: bytes) -> Recording:
    """A session log; raises InputError when no line of it holds a message.

    A line that is torn or malformed is passed over and stands in the notes.
    """
    sessions: dict[tuple[str, bool, str], _Session] = {}
    notes: list[str] = []
    for number, entry in _entries(data, notes):
        message = _message(entry, number, notes)
        if message is not None:
            key = _key(entry)
            sessions.setdefault(key, _Session(_name(*key))).take(message, entry["message"])
    if not sessions:
        why = f"; {notes[0]}" if notes else ""
        raise InputError(f"no line holds a message of user or assistant{why}", "line 1")
    return Recording(
        "claude_code", tuple(s.transcript() for s in sessions.values()), notes=tuple(notes)
    )


def _entries(data: bytes, notes: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value = _value(line)
        if isinstance(value, dict):
            yield number, value
        elif value is None and number == len(lines):
            notes.append(f"line {number}: the last line is torn, passed over")
        else:
            notes.append(f"line {number}: no JSON object, passed over")


def _value(line: bytes) -> Json:
    """The value of a line; None when it is no JSON."""
    try:
        return decode(line)
    except (ValueError, RecursionError):
        return None


def _message(entry: dict[str, Any], number: int, notes: list[str]) -> Message | None:
    """The message of a line; None for a line that has none, with a note when it should have."""
    if entry.get("type") not in _TYPES or entry.get("isMeta") is True:
        return None
    try:
        message = message_from(entry.get("message"))
    except Malformed as error:
        at = f"message{'' if error.path[:1] in ('', '.') else '.'}{error.path}"
        what = "is missing" if error.missing else f"should be {error.wanted}"
        notes.append(f"line {number}: {at} {what}, passed over")
        return None
    return message if message.role in _TYPES else msgspec.structs.replace(message, role="user")


def _key(entry: dict[str, Any]) -> tuple[str, bool, str]:
    session, agent = entry.get("sessionId"), entry.get("agentId")
    return str(session or ""), entry.get("isSidechain") is True, str(agent or "")


def _name(session: str, sidechain: bool, agent: str) -> str:
    parts = (session, "sidechain" if sidechain else "", f"agent {agent}" if agent else "")
    return ", ".join(filter(None, parts)) or "session"
