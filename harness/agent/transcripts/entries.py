"""One line of a JSONL transcript, and whether lines are any good. Pure.

A line is an object with `type`, `uuid`, `parentUuid` and, where somebody says something, `message`.
There are more types than anybody knows, and new ones every week: what is not known is kept and
passed over. Reading forgives and validation does not: a torn line costs its message when a file is
read, and the whole file when it is to be trusted (`problem`).

Lines end with a line feed and nothing else: U+2028 inside a text ends none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from harness.agent.blocks import read_block
from harness.agent.text import clean_json
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult

STRIPPABLE = frozenset({"progress", "file-history-snapshot", "queue-operation", "summary"})
"""Types that are the program's own. A summary is one, unless it carries `isCompactSummary`."""

_SAID = frozenset({"user", "assistant", "summary"})


class Entry(msgspec.Struct, frozen=True):
    """A line as it stood, and its value."""

    line: bytes
    value: dict[str, Any]

    @property
    def uuid(self) -> str:
        """The entry's name; empty when it has none, and then nothing can be its child."""
        return _text(self.value.get("uuid"))

    @property
    def parent(self) -> str:
        """The name of the entry before it; empty at a root."""
        return _text(self.value.get("parentUuid"))

    @property
    def is_summary(self) -> bool:
        """Whether a compaction left it: it stands for all that is before it."""
        return self.value.get("isCompactSummary") is True

    @property
    def is_strippable(self) -> bool:
        """Whether it is nobody's words."""
        return self.value.get("type") in STRIPPABLE and not self.is_summary

    @property
    def is_assistant(self) -> bool:
        """Whether the assistant says it."""
        return self.value.get("type") == "assistant"

    @property
    def message_id(self) -> str:
        """What the entries of one answer share; empty when it is not said."""
        message = self.value.get("message")
        return _text(message.get("id")) if isinstance(message, dict) else ""

    @property
    def message(self) -> Message | None:
        """What is said; None for an entry that says nothing to the model."""
        value, hidden = self.value.get("message"), ("isSidechain", "isMeta")
        if self.value.get("type") not in _SAID or any(self.value.get(k) is True for k in hidden):
            return None
        return _message(value) if isinstance(value, dict) and value.get("role") else None


def entries(data: bytes) -> list[Entry]:
    """The entries of a file; lines that are blank, torn or no object are passed over."""
    read = ((line, value_of(line)) for line in data.split(b"\n"))
    return [Entry(line, value) for line, value in read if value is not None]


def value_of(line: bytes) -> dict[str, Any] | None:
    """The object that a line holds; None when it holds none."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def problem(data: bytes) -> str:
    """Why a file is not to be trusted; empty when every line is an object and somebody answers."""
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    bad = next((n for n, line in lines if value_of(line) is None), 0)
    if bad:
        return f"line {bad} is no JSON object"
    return "" if any(e.is_assistant for e in entries(data)) else "no entry is of the assistant"


def entry(value: dict[str, Json]) -> Entry:
    """An entry to be written; lone halves of characters are replaced, for no file can hold them."""
    value = clean_json(value)
    return Entry(msgspec.json.encode(value), value)


def joined(kept: Sequence[Entry]) -> bytes:
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
    """The content of a result, which may be text, parts or nothing at all."""
    if not isinstance(value, list):
        return _text(value)
    read = (read_block(part) for part in value if isinstance(part, dict))
    return tuple(block for block in read if isinstance(block, Text | Opaque))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
