"""A JSONL transcript: its lines, and the conversation that their links form. Pure.

Each entry names its parent, and only these links define the order. The conversation runs from the
last summary to the last entry, without abandoned branches. A compaction removes nothing: it adds a
boundary, a summary and a copy of the end. Names are content hashes, so the same conversation is the
same file.

New types appear every week: an entry of an unknown type stays in the file and is not read. A reader
skips a torn line; `problem` rejects a whole file with one. Only a line feed ends a line, not
U+2028. Lines stay byte for byte for other programs, except links to dropped entries. Thinking is
signed for its conversation, so a restored conversation keeps it only in the last answer. Thinking
is dropped only at that time. So each later request begins like the one before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from harness.agent.conversation.content import clean_json
from harness.agent.models.anthropic_blocks import read_block, write_message
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, canonical
from harness.stores import SessionRow

_ROW = "rowId"
"""The field that holds the id of the store's row."""

STRIPPABLE = frozenset({"progress", "file-history-snapshot", "queue-operation", "summary"})
"""Entry types of the program itself. A summary is one of them, unless it carries
`isCompactSummary`."""

_SAID = frozenset({"user", "assistant", "summary"})

_THINKING = ("thinking", "redacted_thinking")


class JsonlEntry(msgspec.Struct, frozen=True):
    """An unchanged line, and its value."""

    line: bytes
    value: dict[str, Any]

    @property
    def uuid(self) -> str:
        """The entry's name; "" without a name, and then it has no children."""
        return _text(self.value.get("uuid"))

    @property
    def parent(self) -> str:
        """The name of the entry before it; "" at a root."""
        return _text(self.value.get("parentUuid"))

    @property
    def is_summary(self) -> bool:
        """Whether it is a compaction's summary, which replaces all entries before it."""
        return self.value.get("isCompactSummary") is True

    @property
    def is_strippable(self) -> bool:
        """Whether it is the program's own entry, without words of the user or the assistant."""
        return self.value.get("type") in STRIPPABLE and not self.is_summary

    @property
    def is_assistant(self) -> bool:
        """Whether it is an entry of the assistant."""
        return self.value.get("type") == "assistant"

    @property
    def message_id(self) -> str:
        """The id that the entries of one answer share; "" if it is missing."""
        message = self.value.get("message")
        return _text(message.get("id")) if isinstance(message, dict) else ""

    @property
    def message(self) -> Message | None:
        """The message; None for an entry that is not for the model."""
        value, hidden = self.value.get("message"), ("isSidechain", "isMeta")
        if self.value.get("type") not in _SAID or any(self.value.get(k) is True for k in hidden):
            return None
        return _message(value) if isinstance(value, dict) and value.get("role") else None


def read_entries(data: bytes) -> list[JsonlEntry]:
    """The entries of a file; lines that are blank, torn or not an object are skipped."""
    read = ((line, value_of(line)) for line in data.split(b"\n"))
    return [JsonlEntry(line, value) for line, value in read if value is not None]


def value_of(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if the line is not an object."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def problem(data: bytes) -> str:
    """The reason to reject a file; "" if every line is an object and the assistant has an entry."""
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    bad = next((n for n, line in lines if value_of(line) is None), 0)
    if bad:
        return f"line {bad} is not a JSON object"
    return "" if any(e.is_assistant for e in read_entries(data)) else "no entry is of the assistant"


def new_entry(value: dict[str, Json]) -> JsonlEntry:
    """A new entry; lone halves of characters are replaced, because no file can hold them."""
    value = clean_json(value)
    return JsonlEntry(msgspec.json.encode(value), value)


def join_entries(kept: Sequence[JsonlEntry]) -> bytes:
    """The entries as a file."""
    return b"".join(e.line + b"\n" for e in kept)


def _message(value: dict[str, Any]) -> Message:
    content = clean_json(value.get("content"))
    role = _text(value["role"]) or "user"
    if isinstance(content, str):
        return Message(role, (Text(content),))
    blocks = content if isinstance(content, list) else []
    return Message(role, tuple(_block(block) for block in blocks if isinstance(block, dict)))


def _block(value: dict[str, Any]) -> Block:
    if value.get("type") != "tool_result":
        return read_block(value)
    id = _text(value.get("tool_use_id"))
    return ToolResult(id, _content(value.get("content")), value.get("is_error") is True)


def _content(value: Json) -> str | tuple[Text | Opaque, ...]:
    if not isinstance(value, list):
        return _text(value)
    read = (read_block(part) for part in value if isinstance(part, dict))
    return tuple(block for block in read if isinstance(block, Text | Opaque))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def without_program_entries(data: bytes) -> bytes:
    """The file without the program's own entries; their children are linked to what is left.

    Summaries that carry the flag of a compaction stay. Unreadable lines stay too.
    """
    gone = {e.uuid: e.parent for e in read_entries(data) if e.is_strippable and e.uuid}
    kept = (_relinked(line, gone) for line in data.split(b"\n"))
    return b"\n".join(line for line in kept if line is not None)


def _relinked(line: bytes, gone: dict[str, str]) -> bytes | None:
    value = value_of(line)
    if value is None:
        return line
    found = JsonlEntry(line, value)
    if found.is_strippable:
        return None
    parent = _kept_ancestor(found.parent, gone)
    return line if parent == found.parent else new_entry({**value, "parentUuid": parent}).line


def _kept_ancestor(uuid: str, gone: dict[str, str]) -> str:
    passed: set[str] = set()  # in a damaged file the parents may form a circle
    while uuid in gone and uuid not in passed:
        passed.add(uuid)
        uuid = gone[uuid]
    return "" if uuid in passed else uuid


def without_stale_thinking(data: bytes) -> bytes:
    """The file with thinking in the last answer only: the entries that share its `message.id`, or,
    without ids, the last entry of the assistant."""
    answers = [e for e in read_entries(data) if e.is_assistant]
    if not answers:
        return data
    last, id = answers[-1], answers[-1].message_id
    fresh = {e.line for e in answers if e.message_id == id} if id else {last.line}
    return b"\n".join(line if line in fresh else _unthinking(line) for line in data.split(b"\n"))


def _unthinking(line: bytes) -> bytes:
    value = value_of(line) or {}
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if value.get("type") != "assistant" or not isinstance(content, list):
        return line
    kept = [b for b in content if not (isinstance(b, dict) and b.get("type") in _THINKING)]
    if len(kept) == len(content):
        return line
    return new_entry({**value, "message": {**value["message"], "content": kept}}).line


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
    recent = found[max((n for n, e in enumerate(found) if e.is_summary), default=0) :]
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
