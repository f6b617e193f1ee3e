"""Messages and values in the forms of OpenTelemetry: its parts of messages, its typed attributes.

JSON is masked before it becomes a text within JSON: a mask knows the name of a field only where its
quotes are not escaped. Source: OpenTelemetry semantic conventions for
generative AI, 1.38 (`gen-ai-input-messages.json`, `gen-ai-output-messages.json`);
opentelemetry-proto, `common.proto` in JSON encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from harness.redaction.encoder import json_line

_DEPTH_MOST = 16
"""How deep a value is written in types; what is below is written as JSON."""

_WHOLE_BITS = 63


def message(said: Message, stop: str | None = None) -> dict[str, Json]:
    """A message with its parts; an answer of the model also says why it ended."""
    row = {"role": _role(said), "parts": [_part(block) for block in said.blocks]}
    return row if stop is None else {**row, "finish_reason": stop}


def words(role: str, text: str) -> dict[str, Json]:
    """A message of one text."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _role(said: Message) -> str:
    """The role; results are the tool's, in whose message ever an API carries them."""
    is_answer = bool(said.blocks) and len(said.tool_results) == len(said.blocks)
    return "tool" if is_answer else said.role


def _part(block: Block) -> dict[str, Json]:
    match block:
        case Text(text):
            return {"type": "text", "content": text}
        case Thinking(text):
            return {"type": "reasoning", "content": text}
        case ToolUse(id_, name, given):
            return {"type": "tool_call", "id": id_, "name": name, "arguments": given}
        case ToolResult(id_):
            return {"type": "tool_call_response", "id": id_, "response": block.content}
        case Opaque(kind, value):
            return {**value, "type": kind}


def attributes(named: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Attributes of a span; one without a value is left out."""
    return [
        {"key": key, "value": _typed(value)}
        for key, value in named.items()
        if value not in (None, "", [])
    ]


class AsJson:
    """A value that stands in an attribute as JSON text."""

    def __init__(self, value: Json) -> None:
        self.value = value


def rows(values: Iterable[Json]) -> AsJson | None:
    """A list as JSON text; None for an empty one."""
    return AsJson(found) if (found := list(values)) else None


def _typed(value: Any, depth: int = 0) -> dict[str, Json]:
    match value:
        case AsJson():
            return {"stringValue": str(json_line(value.value))}
        case None:
            return {}
        case bool():
            return {"boolValue": value}
        case str():
            return {"stringValue": value}
        case int() if value.bit_length() <= _WHOLE_BITS:
            return {"intValue": str(value)}
        case float() if value - value == 0:
            return {"doubleValue": value}
        case list() | tuple() if depth < _DEPTH_MOST:
            return {"arrayValue": {"values": [_typed(item, depth + 1) for item in value]}}
        case dict() if depth < _DEPTH_MOST:
            pairs = ({"key": str(k), "value": _typed(v, depth + 1)} for k, v in value.items())
            return {"kvlistValue": {"values": list(pairs)}}
    return {"stringValue": str(json_line(value))}
