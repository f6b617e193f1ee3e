"""The entries of a transcript as one conversation: its growth and its current path. Pure.

Each entry names its parent, and only these links define the order. The conversation runs from the
last summary to the last entry, without abandoned branches. A compaction removes nothing: it adds a
boundary, a summary and a copy of the end. Names are content hashes, so the same conversation is the
same file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from harness.agent.conversation.content import clean_json
from harness.agent.models.anthropic_blocks import write_message
from harness.agent.sessions.jsonl_entries import (
    JsonlEntry,
    join_entries,
    new_entry,
    read_entries,
    without_program_entries,
)
from harness.core.values.messages import Json, Message, canonical
from harness.stores import SessionRow

_ROW = "rowId"
"""The field that holds the id of the store's row."""


class Chain:
    """The entries of one session."""

    def __init__(self, session: str = "main") -> None:
        self._session = session
        self.entries: list[JsonlEntry] = []

    def replace(self, data: bytes) -> bool:
        """Replace all entries by those of a file. Return False without a change if no entry has
        content."""
        built = read_entries(without_program_entries(data))
        if not visible_entries(built):
            return False
        self.entries = built
        return True

    def extend(self, rows: Iterable[SessionRow]) -> None:
        """Add rows of a store; a row without an id is the summary at the beginning of a history."""
        for row in rows:
            if row.id:
                self.append(row.message, row.id)
            else:
                self.summarise(row.message, 0)

    def append(self, message: Message, row: str = "") -> None:
        """Add a message, with the id of its row in the store."""
        kind = "assistant" if message.role == "assistant" else "user"
        self._add({"type": kind, "message": self._written(message), _ROW: row})

    def summarise(self, summary: Message, keep: int) -> None:
        """Replace all but the last `keep` messages by a summary."""
        kept = visible_entries(self.entries)[-keep:] if keep else []
        self._add({"type": "system", "subtype": "compact_boundary"})
        self._add({"type": "user", "isCompactSummary": True, "message": self._written(summary)})
        for old in kept:
            self._add(old.value)

    def rows(self) -> list[SessionRow]:
        """The conversation for the model; the summary has no id."""
        found = ((e, e.message) for e in visible_entries(self.entries))
        return [SessionRow(e.value.get(_ROW) or "", m) for e, m in found if m is not None]

    def export(self) -> bytes:
        """The whole list as a file."""
        return join_entries(self.entries)

    def _add(self, value: dict[str, Json]) -> None:
        links = {"sessionId": self._session, "isSidechain": False, "parentUuid": self.last_uuid()}
        value = clean_json({**value, **links, "uuid": ""})
        self.entries.append(new_entry({**value, "uuid": _uuid([len(self.entries), value])}))

    def last_uuid(self) -> str:
        """The name that the next entry gives as its parent."""
        return next((e.uuid for e in reversed(self.entries) if _is_link(e)), "")

    def _written(self, message: Message) -> dict[str, Json]:
        """The message; consecutive assistant messages form one answer."""
        value = write_message(message)
        if message.role != "assistant":
            return value
        said = next((e for e in reversed(self.entries) if e.message is not None), None)
        shared = said.message_id if said is not None and said.is_assistant else ""
        named = [len(self.entries), self._session, clean_json(value)]
        return {**value, "id": shared or f"msg_{_uuid(named).replace('-', '')[:24]}"}


def visible_entries(found: Sequence[JsonlEntry]) -> list[JsonlEntry]:
    """The entries whose messages the model must see. These are the entries on the path from the
    last one to its root, from the last summary on. Other entries of the same answers, and the
    results, belong to them. If no entry has a name, the order of the file counts."""
    recent = found[_last_summary(found) :]
    if not any(_is_link(e) for e in recent):
        return [e for e in recent if e.message]
    path = _path(recent)
    answers = {e.message_id for e in recent if e.uuid in path and e.is_assistant} - {""}
    path |= {e.uuid for e in recent if e.is_assistant and e.message_id in answers}
    calls = {c.id for e in recent if e.uuid in path and e.message for c in e.message.tool_uses}
    return [e for e in recent if e.message and (e.uuid in path or _answers(e.message, calls))]


def messages_of(data: bytes) -> list[Message]:
    """The messages of a file."""
    return [
        e.message
        for e in visible_entries(read_entries(without_program_entries(data)))
        if e.message is not None
    ]


def transcript_of(messages: Iterable[Message], session: str = "main") -> bytes:
    """A file of these messages."""
    chain = Chain(session)
    for message in messages:
        chain.append(message)
    return chain.export()


def _last_summary(found: Sequence[JsonlEntry]) -> int:
    return max((n for n, e in enumerate(found) if e.is_summary), default=0)


def _path(found: Sequence[JsonlEntry]) -> set[str]:
    """The names from the last entry to its root; a missing parent or a cycle also ends the path."""
    by_name = {e.uuid: e for e in found}
    uuid, path = next((e.uuid for e in reversed(found) if _is_link(e)), ""), set[str]()
    while uuid in by_name and uuid not in path:
        path.add(uuid)
        uuid = by_name[uuid].parent
    return path - {""}


def _is_link(found: JsonlEntry) -> bool:
    return bool(found.uuid) and found.value.get("isSidechain") is not True


def _answers(message: Message, calls: set[str]) -> bool:
    given = {result.id for result in message.tool_results}
    return bool(given) and given <= calls and len(given) == len(message.blocks)


def _uuid(value: Json) -> str:
    name = hashlib.blake2b(canonical(value).encode(), digest_size=16).hexdigest()
    return "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))
