"""What `gemini --output-format stream-json` printed: lines of events, a run of the program each.

An answer comes in pieces, the calls of a turn before their results. `error` events are warnings for
the user; only a `result` that failed is an answer that failed. Runners write such streams into one
file, with lines of their own before `init`. Source: google-gemini/gemini-cli,
packages/core/src/output/types.ts, and files of January 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, ToolUse
from harness.core.values.plans import ApiError
from harness.providers.gemini.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import (
    LogEntry,
    Notes,
    SizeBound,
    entries,
    first_objects,
    logged_error,
)
from harness.recordings.transcripts import Recording, Transcript, recording_of

_INIT = frozenset({"type", "timestamp", "session_id", "model"})
_Event = dict[str, Json]


class _Run:
    def __init__(self, name: str, model: str) -> None:
        self.name, self.model = name, model
        self.said: list[tuple[str, list[Block]]] = []
        self.failures: dict[int, ApiError] = {}

    def take(self, event: _Event, notes: Notes) -> bool:
        """Take in an event; return whether it is a part of the conversation."""
        kind = f.text(event.get("type"))
        match kind:
            case "message" if event.get("role") in ("user", "assistant"):
                text = f.text(event.get("content"))
                self._side(f.text(event["role"])).append(Text(text))
            case "tool_use":
                self._side("assistant").append(_call(event))
            case "tool_result":
                self._side("user").append(_result(event))
            case "result" if error := f.mapping(event.get("error")):
                text = f.text(error.get("message"))
                self.failures[len(self.said)] = logged_error(text, None, error.get("type"))
                self.said.append(("assistant", [Text(text)]))
            case _:
                if kind == "message" or is_of_a_tool(kind, "assistant"):
                    notes.unknown(f"the event {kind!r}")
                return False
        return True

    def _side(self, role: str) -> list[Block]:
        if not self.said or self.said[-1][0] != role:
            self.said.append((role, []))
        return self.said[-1][1]

    def transcript(self) -> Transcript:
        return Transcript(
            name=self.name or "run",
            messages=tuple(Message(role, tuple(_joined(blocks))) for role, blocks in self.said),
            wire=RECORD.name,
            model=self.model,
            failures=self.failures,
        )


def _joined(blocks: Iterable[Block]) -> Iterator[Block]:
    for is_text, found in groupby(blocks, lambda block: isinstance(block, Text)):
        if not is_text:
            yield from found
        elif text := "".join(block.text for block in found if isinstance(block, Text)):
            yield Text(text)


def _call(event: _Event) -> Block:
    id_ = f.identifier(event.get("tool_id"))
    if not id_ or "parameters" not in event:
        reason = "the id or the parameters of a call are not found"
        return Opaque(f.UNREAD_CALL, {"reason": reason, "call": event})
    return ToolUse(id_, f.text(event.get("tool_name")), event["parameters"])


def _result(event: _Event) -> ToolResult:
    error = f.text(f.mapping(event.get("error")).get("message"))
    text = f.as_text(event.get("output") or error)
    return ToolResult(f.identifier(event.get("tool_id")), text, event.get("status") == "error")


def _is_gemini_stream(data: bytes) -> bool:
    found = (event for event in first_objects(data) if event.keys() >= _INIT)
    return any(event["type"] == "init" for event in found)


@recognised_by(_is_gemini_stream)
def gemini_stream(lines: Iterable[bytes]) -> Recording:
    """Gemini CLI output (--output-format stream-json).

    A torn line is skipped and noted. Raises InputError when no line holds a message.
    """
    runs, notes, kept = list[_Run](), Notes(), SizeBound()
    for entry in entries(lines, notes):
        if entry.value.get("type") == "init":
            runs.append(_begun(entry))
        elif runs and runs[-1].take(entry.value, notes):
            kept.add(entry)
    found = [run.transcript() for run in runs if run.said]
    if not found:
        raise notes.refusal("no line holds a message")
    return notes.on(recording_of(found))


def _begun(entry: LogEntry) -> _Run:
    return _Run(f.text(entry.value.get("session_id")), f.text(entry.value.get("model")))
