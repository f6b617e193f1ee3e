"""Messages in the form of the Anthropic API, in both directions."""

from __future__ import annotations

from collections.abc import Callable
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

_OWN = frozenset({"type", "text", "id", "name", "input", "parsed_output"})


def write_message(message: Message) -> dict[str, Json]:
    """A message as a parameter of a request."""
    return {"role": message.role, "content": [write_block(block) for block in message.blocks]}


def write_block(block: Block) -> dict[str, Json]:
    """A block as a parameter of a request."""
    match block:
        case Text(text, extra):
            return {"type": "text", "text": text, **extra}
        case Thinking(redacted=data) if data:
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(id, name, input, extra):
            return {"type": "tool_use", "id": id, "name": name, "input": input, **extra}
        case ToolResult(id, content, is_error):
            parts = content if isinstance(content, str) else [write_block(b) for b in content]
            result = {"type": "tool_result", "tool_use_id": id, "content": parts}
            return {**result, "is_error": True} if is_error else result
        case Opaque(_, value):
            return dict(value)


def read_block(value: dict[str, Any]) -> Block:
    """A block of an answer; an unknown block is kept with all its fields."""
    kind = str(value.get("type"))
    return _READERS[kind](value) if kind in _READERS else Opaque(kind, value)


def _extra(value: dict[str, Any]) -> dict[str, Json]:
    return {k: v for k, v in value.items() if k not in _OWN and v is not None}


_READERS: dict[str, Callable[[dict[str, Any]], Block]] = {
    "text": lambda v: Text(v.get("text") or "", _extra(v)),
    "thinking": lambda v: Thinking(v.get("thinking") or "", v.get("signature") or ""),
    "redacted_thinking": lambda v: Thinking(redacted=v.get("data") or ""),
    "tool_use": lambda v: ToolUse(
        v.get("id") or "", v.get("name") or "", v.get("input"), _extra(v)
    ),
}
