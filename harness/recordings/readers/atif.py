"""The Agent Trajectory Interchange Format (ATIF): steps by source, with their observations.

Agents that write calls as text have observations without a call: these are messages of the user.
Steps of the source `system` are notes of the program. Source: the format's specification,
schema_version ATIF-v1.*.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.errors import InputError
from harness.core.values.messages import Block, Json, Message, Thinking, ToolResult, ToolUse
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.transcripts import Recording, Transcript

_TEXTS = {"text": "text"}


def _is_atif(data: bytes) -> bool:
    value = f.mapping(json_documents.peek(data, b'"schema_version"', b"ATIF"))
    return f.text(value.get("schema_version")).startswith("ATIF")


@recognised_by(_is_atif)
def atif(document: bytes) -> Recording:
    """Agent Trajectory Interchange Format.

    Raises InputError for a trajectory without steps.
    """
    value = f.mapping(json_documents.load(document))
    steps = f.objects(value.get("steps"))
    if not steps:
        raise InputError("a trajectory has a list steps, this has none", "line 1")
    agent = f.mapping(value.get("agent"))
    declared = f.objects(agent.get("tool_definitions"))
    transcript = Transcript(
        name=f.text(value.get("session_id")) or "trajectory",
        messages=tuple(message for step in steps for message in _messages(step)),
        model=f.text(agent.get("model_name")),
        tools=tuple(f.tool(f.mapping(tool.get("function")) or tool) for tool in declared),
    )
    return Recording((transcript,))


def _messages(step: dict[str, Json]) -> Iterator[Message]:
    said = f.blocks(step.get("message"), _TEXTS)
    if step.get("source") != "agent":
        yield Message("system" if step.get("source") == "system" else "user", said)
        return
    thought = f.text(step.get("reasoning_content"))
    thoughts: tuple[Block, ...] = (Thinking(thought),) if thought else ()
    calls = tuple(_call(call) for call in f.objects(step.get("tool_calls")))
    yield Message("assistant", (*thoughts, *said, *calls))
    seen = f.objects(f.mapping(step.get("observation")).get("results"))
    if seen and (calls or any(result.get("source_call_id") for result in seen)):
        yield Message("tool", tuple(_result(result) for result in seen))
    elif seen:
        told = (b for result in seen for b in f.blocks(result.get("content"), _TEXTS))
        yield Message("user", tuple(told))


def _call(call: dict[str, Json]) -> ToolUse:
    name = f.text(call.get("function_name"))
    return ToolUse(f.identifier(call.get("tool_call_id")), name, call.get("arguments"))


def _result(result: dict[str, Json]) -> ToolResult:
    content = f.result_content(result.get("content"), _TEXTS)
    failed = result.get("is_error") is True
    return ToolResult(f.identifier(result.get("source_call_id")), content, failed)
