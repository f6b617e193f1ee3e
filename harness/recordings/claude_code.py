"""Claude Code session logs: JSON Lines, several transcripts in one file.

A transcript is what shares (sessionId, isSidechain, agentId), in file order, which is the order in
which it happened: links to parents branch where a user went back, and may lead round in a circle,
so they are noted and not followed. Lines of other types, and those that are `isMeta`, are the
program's own and are passed over. A user's line with `isCompactSummary` stands for all before it.
There are more types than anybody knows, and new ones every week.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.core.values.errors import InputError
from harness.core.values.messages import Message
from harness.recordings import links
from harness.recordings.drafts import ROLES, Drafts, said_on
from harness.recordings.lines import Entry, Kept, Notes, entries, first_objects, split
from harness.recordings.transcripts import Recording, Transcript, encodable

_OTHER_TYPES = (
    "summary",
    "system",
    "progress",
    "queue-operation",
    "file-history-snapshot",
    "attachment",
    "last-prompt",
    "api-request",
    "cost-state",
)
"""Types that come without a session's id, or came so once."""

_NOT_OURS = frozenset({"event", "payload", "parentId"})
"""What entries of other formats have and these have not."""


class _Session:
    """A transcript as its lines come in."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.drafts = Drafts()
        self.summaries: list[int] = []

    def take(self, message: Message, entry: Entry) -> None:
        """Take in the message of a line."""
        value = entry.value
        if value.get("isCompactSummary") is True:
            self.summaries.append(len(self.drafts.found))
        self.drafts.take(message, value["message"], str(entry.number))

    def transcript(self) -> Transcript:
        """What came in."""
        found = self.drafts.found
        return Transcript(
            name=self.name,
            messages=encodable(tuple(draft.message for draft in found)),
            wire="anthropic",
            model=self.drafts.model,
            stops={n: draft.stop for n, draft in enumerate(found) if draft.stop},
            restarts={n: n for n in self.summaries},
            answered=bool(found) and found[-1].role == "assistant",
        )


def looks_like(data: bytes) -> bool:
    """Whether one of the first lines is an entry of a session log, and none is another's."""
    for value in first_objects(data):
        if value.get("type") in (*ROLES, *_OTHER_TYPES) or {"type", "sessionId"} <= value.keys():
            return not _NOT_OURS & value.keys()
    return False


def read(data: bytes) -> Recording:
    """A session log; see `read_lines`."""
    return read_lines(split(data))


def read_lines(lines: Iterable[bytes]) -> Recording:
    """A session log; raises InputError when no line of it holds a message.

    A line that is torn or malformed is passed over and stands in the notes.
    """
    sessions: dict[tuple[bool, str, str], _Session] = {}
    notes, kept, names = Notes(), Kept(), _Names()
    for entry in entries(lines, notes):
        message = _message(entry, notes)
        if message is not None:
            kept.add(entry)
            names.add(entry, notes)
            key = _key(entry.value)
            sessions.setdefault(key, _Session(_name(*key))).take(message, entry)
    names.note_circles(notes)
    if not sessions:
        why = f"; {notes.first}" if notes.first else ""
        raise InputError(f"no line holds a message of user or assistant{why}", "line 1")
    in_order = sorted(sessions, key=lambda key: key[0])
    return Recording(
        "claude_code", tuple(sessions[k].transcript() for k in in_order), notes=notes.told()
    )


class _Names:
    """The names of the entries, and what is odd about them."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._parents: dict[str, str] = {}

    def add(self, entry: Entry, notes: Notes) -> None:
        """Take in an entry."""
        name, parent = entry.value.get("uuid"), entry.value.get("parentUuid")
        if not isinstance(name, str) or not name:
            return
        if name in self._lines:
            notes.add(entry.number, f"its uuid is that of line {self._lines[name]}")
        else:
            self._lines[name] = entry.number
            self._parents[name] = parent if isinstance(parent, str) else ""

    def note_circles(self, notes: Notes) -> None:
        """Note where parents lead round in a circle."""
        for name in links.in_circles(self._parents):
            notes.add(self._lines[name], "its parents lead back to it")


def _message(entry: Entry, notes: Notes) -> Message | None:
    """The message of a line; None for a line that has none, with a note when it should have."""
    value = entry.value
    if value.get("type") not in ROLES or value.get("isMeta") is True:
        return None
    message, why = said_on(value.get("message"))
    if message is None:
        notes.add(entry.number, f"{why}, passed over")
    return message


def _key(entry: dict[str, Any]) -> tuple[bool, str, str]:
    session, agent = entry.get("sessionId"), entry.get("agentId")
    return entry.get("isSidechain") is True, str(session or ""), str(agent or "")


def _name(sidechain: bool, session: str, agent: str) -> str:
    parts = (session, "sidechain" if sidechain else "", f"agent {agent}" if agent else "")
    return ", ".join(filter(None, parts)) or "session"
