"""Anthropic Messages, also behind Bedrock (`invoke`), Vertex (`rawPredict`) and gateways."""

from __future__ import annotations

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Json, Message, Opaque
from harness.providers.anthropic import response
from harness.providers.anthropic.blocks import message_from
from harness.providers.shared.reader import Malformed
from harness.recordings.event_stream import as_sse
from harness.recordings.shapes import fields as f
from harness.recordings.transcripts import Asked


def request(value: dict[str, Json]) -> Asked | None:
    """A request as messages; None when it has no list of them."""
    if not isinstance(value.get("messages"), list):
        return None
    thread = f.mapping(value.get("thread"))
    return Asked(
        messages=tuple(_message(message) for message in f.objects(value["messages"])),
        system=_system(value.get("system")),
        tools=tuple(f.tool(tool, "input_schema") for tool in f.objects(value.get("tools"))),
        model=f.text(value.get("model")),
        max_tokens=f.whole(value.get("max_tokens")),
        stream=value.get("stream") is True,
        stateful=thread.get("type") == "continue",
    )


def _message(value: dict[str, Json]) -> Message:
    try:
        return message_from(value)
    except Malformed:
        return Message(f.text(value.get("role")) or "user", (Opaque("malformed", value),))


def _system(value: Json) -> str:
    if isinstance(value, str):
        return value
    return f.joined(f.text(block.get("text")) for block in f.objects(value))


def answer(body: bytes, content_type: str) -> Parsed:
    """An answer as a message; raises Unreadable for a torn binary stream."""
    if "amazon.eventstream" in content_type:
        body, content_type = as_sse(body), "text/event-stream"
    return response.parse(body, content_type)
