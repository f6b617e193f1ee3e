"""Sessions of Claude Managed Agents: the events that the API lists or streams, as JSON or on lines.

The id of a call's event is the id of the call. The spans of requests to the model divide answers.
An event of a sub-agent stands twice, and here only where it asks for permission; its own thread has
the rest. Some programs keep the event under `raw`, beside other facts. Source: the types
under `anthropic.types.beta.sessions`, version 2.11 of the SDK, and five public sessions of 2026.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    ToolResult,
    ToolUse,
    assistant,
    user,
)
from harness.core.values.plans import ApiError
from harness.providers.anthropic.record import RECORD
from harness.providers.anthropic.request import recorded_messages
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, entries, first_objects, split
from harness.recordings.transcripts import Recording, Transcript

_Event = dict[str, Json]

_DOMAINS = frozenset({"user", "agent", "session", "span", "system", "workflow_run"})
_CALLS = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.tool_result": "tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""The kinds of results, and where each names its call."""

_SAID = {
    "user.message": "user",
    "agent.thread_message_received": "user",
    "agent.message": "assistant",
}
_RETRIED = "retrying"


def _event(row: Json) -> _Event:
    """The event that a row is, or holds under `raw`; empty for any other row."""
    for said in (f.mapping(row), f.mapping(f.mapping(row).get("raw"))):
        domain, point, _ = f.text(said.get("type")).partition(".")
        if point and domain in _DOMAINS and said.keys() >= {"id", "processed_at"}:
            return said
    return {}


def _listed(value: Json) -> list[Json]:
    """The events of a document that is not lines: a list, or the page that the API answers with."""
    return f.listed(f.mapping(value).get("data") or f.mapping(value).get("events") or value)


def _is_managed_agents(data: bytes) -> bool:
    if b'"processed_at"' not in data:  # spares other logs the parsing of their first lines
        return False
    if json_documents.is_lines(data):
        return any(map(_event, first_objects(data)))
    return any(map(_event, _listed(json_documents.peek(data))[:1]))


@recognised_by(_is_managed_agents)
def managed_agents(document: bytes) -> Recording:
    """Claude Managed Agents session events.

    A torn line is skipped and noted. Raises InputError when no event says something, and for JSON
    that is torn.
    """
    notes, session = Notes(), _Session()
    rows: Iterable[Json]
    if json_documents.is_lines(document):
        rows = (entry.value for entry in entries(split(document), notes))
    else:
        rows = _listed(json_documents.load(document))
    for event in filter(None, map(_event, rows)):
        session.take(event, notes)
    if not session.messages:
        raise notes.refusal("no event says something")
    return notes.on(Recording((session.transcript(),)))


class _Session:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._restarts: dict[int, int] = {}
        self._failures: dict[int, ApiError] = {}
        self._answers = False  # whether the last message is an answer that goes on

    def take(self, event: _Event, notes: Notes) -> None:
        kind = f.text(event.get("type"))
        if event.get("session_thread_id") and not kind.startswith("session."):
            return
        if kind in _SAID:
            self._add(_SAID[kind], tuple(_blocks(event)))
        elif kind == "user.define_outcome":
            self._add("user", user(f.text(event.get("description"))).blocks)
        elif kind in _CALLS:
            use = ToolUse(f.text(event["id"]), f.text(event.get("name")), event.get("input"))
            self._add("assistant", (use,))
        elif kind in _RESULTS:
            self._add("tool", (_result(event, _RESULTS[kind]),))
        elif kind == "session.error":
            self._fail(f.mapping(event.get("error")))
        elif kind == "agent.thread_context_compacted":
            self._restarts[len(self.messages)] = len(self.messages)
        elif kind.startswith("span.model_request"):
            self._answers = False
        elif kind.startswith(("agent.", "user.")) and is_of_a_tool(kind.partition(".")[2]):
            notes.unknown(f"the event {kind!r}")

    def _add(self, role: str, blocks: tuple[Block, ...]) -> None:
        if role == "assistant" and self._answers:
            self.messages[-1] = Message(role, (*self.messages[-1].blocks, *blocks))
        else:
            self.messages.append(Message(role, blocks))
        self._answers = role == "assistant"

    def _fail(self, error: _Event) -> None:
        """An error that is not tried again is what the session has in place of an answer."""
        if f.text(f.mapping(error.get("retry_status")).get("type")) == _RETRIED:
            return
        told = ApiError(0, f.text(error.get("type")), f.text(error.get("message")))
        self._failures[len(self.messages)] = told
        self.messages.append(assistant(told.message))
        self._answers = False

    def transcript(self) -> Transcript:
        restarts = {n: kept for n, kept in self._restarts.items() if n < len(self.messages)}
        return Transcript(
            name="session",
            messages=tuple(self.messages),
            wire=RECORD.name,
            restarts=restarts,
            failures=self._failures,
        )


def _blocks(event: _Event) -> Iterator[Block]:
    said = recorded_messages([{"role": "user", "content": event.get("content")}])
    return (block for message in said for block in message.blocks)


def _result(event: _Event, named: str) -> ToolResult:
    content = f.result_content(event.get("content"), {"text": "text"})
    return ToolResult(f.text(event.get(named)), content, event.get("is_error") is True)
