"""Codex rollouts: JSON Lines, one session a file, items of the OpenAI Responses API.

`compacted` replaces all before it. `event_msg` repeats items for the screen and is ignored, as are
unknown types. The oldest files hold bare items below a line with the session's id. Source:
openai/codex, codex-rs/protocol (RolloutItem, ResponseItem), versions up to 0.128.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from harness.core.values.messages import Message, user
from harness.providers.openai_responses.blocks import recorded_messages
from harness.providers.openai_responses.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import LogEntry, Notes, SizeBound, entries, first_objects
from harness.recordings.transcripts import Recording, Transcript

_TYPES = frozenset({"session_meta", "response_item", "turn_context", "compacted", "event_msg"})
_ITEMS = frozenset((
    "message", "reasoning", "local_shell_call", "function_call", "function_call_output",
    "custom_tool_call", "custom_tool_call_output", "tool_search_call", "tool_search_output",
    "web_search_call", "image_generation_call",
))  # fmt: skip
"""The items that are messages or parts of one; the others are the program's own."""


class _Rollout:
    """A session; `items` are those since the last compaction."""

    def __init__(self) -> None:
        self.name = self.model = self.system = ""
        self.restarts: dict[int, int] = {}
        self._messages: list[Message] = []
        self.items: list[dict[str, Any]] = []

    def describe(self, said: dict[str, Any]) -> None:
        """The first non-empty value of each fact counts."""
        told = f.text(f.mapping(said.get("base_instructions")).get("text"))
        self.name = self.name or f.text(said.get("id"))
        self.model = self.model or f.text(said.get("model"))
        self.system = self.system or told or f.text(said.get("instructions"))

    def compact(self, summary: str) -> None:
        self._close()
        at = len(self._messages)
        self.restarts[at] = at
        self._messages.append(user(summary))

    def _close(self) -> None:
        self._messages += recorded_messages(self.items)
        self.items = []

    def transcript(self) -> Transcript:
        self._close()
        return Transcript(
            name=self.name or "session",
            messages=tuple(self._messages),
            wire=RECORD.name,
            model=self.model,
            system=self.system,
            restarts=self.restarts,
            lost_result="aborted",
        )


def _is_codex(data: bytes) -> bool:
    return any(
        _is_oldest(value)
        or (f.text(value.get("type")) in _TYPES and isinstance(value.get("payload"), dict))
        for value in islice(first_objects(data), 2)
    )


def _is_oldest(value: dict[str, Any]) -> bool:
    return "type" not in value and {"id", "timestamp", "instructions"} <= value.keys()


@recognised_by(_is_codex)
def codex(lines: Iterable[bytes]) -> Recording:
    """Codex rollout.

    A torn line is skipped and noted. Raises InputError when no line holds an item.
    """
    rollout, notes, kept = _Rollout(), Notes(), SizeBound()
    for entry in entries(lines, notes):
        _take(rollout, entry, notes, kept)
    if not (rollout.items or rollout.restarts):
        raise notes.refusal("no line holds an item of the conversation")
    return notes.on(Recording((rollout.transcript(),)))


def _take(rollout: _Rollout, entry: LogEntry, notes: Notes, kept: SizeBound) -> None:
    kind, said = entry.value.get("type"), entry.value.get("payload")
    if _is_oldest(entry.value):
        rollout.describe(entry.value)
    elif kind in ("session_meta", "turn_context"):
        rollout.describe(f.mapping(said))
    elif kind == "compacted":
        rollout.compact(f.text(f.mapping(said).get("message")))
    elif kind == "event_msg" and f.mapping(said).get("type") == "thread_rolled_back":
        notes.add(entry.number, "turns were taken back here; they are read all the same")
    else:
        item = f.mapping(said) if kind == "response_item" else entry.value
        type_ = f.text(item.get("type"))
        if type_ in _ITEMS:
            kept.add(entry)
            rollout.items.append(item)
        elif kind != "event_msg" and is_of_a_tool(type_, "assistant"):
            notes.unknown(f"the item {type_!r}")
