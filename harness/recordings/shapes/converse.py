"""Bedrock Converse: the one shape of Amazon's for all models; a block is named by its only key."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Parsed
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from harness.core.values.plans import ApiError
from harness.recordings.event_stream import named_events
from harness.recordings.shapes import fields as f
from harness.recordings.shapes.converse_stream import assembled
from harness.recordings.transcripts import Asked


def request(value: dict[str, Json]) -> Asked | None:
    """A request as messages; None when it has no list of them."""
    if not isinstance(value.get("messages"), list):
        return None
    config = f.mapping(value.get("inferenceConfig"))
    return Asked(
        messages=tuple(_message(message) for message in f.objects(value["messages"])),
        system=f.joined(f.text(part.get("text")) for part in f.objects(value.get("system"))),
        tools=tuple(_tools(f.mapping(value.get("toolConfig")).get("tools"))),
        max_tokens=f.whole(config.get("maxTokens")),
    )


def _tools(declared: Json) -> Iterator[ToolSpec]:
    for tool in f.objects(declared):
        if spec := f.mapping(tool.get("toolSpec")):
            yield f.tool(
                {**spec, "schema": f.mapping(spec.get("inputSchema")).get("json")}, "schema"
            )


def _message(value: dict[str, Json]) -> Message:
    blocks = tuple(_block(block) for block in f.objects(value.get("content")))
    return Message(f.text(value.get("role")) or "user", blocks)


def _block(block: dict[str, Json]) -> Block:
    match block:
        case {"text": str(text)}:
            return Text(text)
        case {"toolUse": {"type": "server_tool_use"}}:
            return Opaque("server_tool_use", block)
        case {"toolUse": {"toolUseId": str(id_), "name": str(name), **rest}}:
            return ToolUse(id_, name, rest.get("input"))
        case {"toolResult": {"toolUseId": str(id_), **rest}}:
            parts = tuple(_part(part) for part in f.objects(rest.get("content")))
            return ToolResult(id_, parts, rest.get("status") == "error")
        case {"reasoningContent": {"reasoningText": {"text": str(text), **rest}}}:
            return Thinking(text, f.text(rest.get("signature")))
    return Opaque(next(iter(block), ""), block)


def _part(part: dict[str, Json]) -> Text | Opaque:
    if isinstance(part.get("text"), str):
        return Text(part["text"])
    return Text(f.json_text(part["json"])) if "json" in part else Opaque("", part)


def answer(body: bytes, content_type: str) -> Parsed:
    """An answer as a message; an error is an object with a message. Raises Unreadable for a torn
    binary stream."""
    streamed = "amazon.eventstream" in content_type
    value = assembled(named_events(body)) if streamed else f.mapping(f.parse(body))
    said = f.mapping(value.get("output")).get("message")
    if isinstance(said, dict):
        stop = f.text(value.get("stopReason")) or None
        complete = stop is not None or not streamed
        return Parsed(_message({"role": "assistant", **said}), stop, complete=complete)
    text = f.text(value.get("message")) or f.text(value.get("Message"))
    error = ApiError(0, f.text(value.get("__type")), text) if text else None
    return Parsed(None, complete=False, error=error)
