"""The lines of a JSONL transcript: reading, validation, and the entries that are dropped. Pure.

New types appear every week: an entry of an unknown type stays in the file and is not read. A reader
skips a torn line; `problem` rejects a whole file with one. Only a line feed ends a line, not
U+2028. Lines stay byte for byte for other programs, except links to dropped entries. Thinking is
signed for its conversation, so a restored conversation keeps it only in the last answer. Thinking
is dropped only at that time. So each later request begins like the one before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.agent.conversation.content import clean_json
from harness.agent.models.anthropic_blocks import read_block
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult

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
