"""Messages as Inspect AI keeps them: one row for each result, calls apart from the content.

Inspect takes an object alone for the arguments of a call. Arguments of another type stand in
`parse_error`, where Inspect keeps what its own models write wrongly. A part that it has no word for
is kept as JSON text. Source: inspect_ai.model, `ChatMessage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    side,
)
from harness.redaction.encoder import json_line


def messages_of(said: Iterable[Message], sample: str) -> Iterator[dict[str, Json]]:
    """The rows of messages; the ids follow from that of the sample."""
    names: dict[str, str] = {}
    number = 0
    for message in said:
        names.update({use.id: use.name for use in message.tool_uses})
        for row in _rows(message, names):
            number += 1
            yield {"id": f"{sample}-{number}", **row}


def _rows(message: Message, names: dict[str, str]) -> Iterator[dict[str, Json]]:
    yield from (_result(result, names) for result in message.tool_results)
    rest = [b for b in message.blocks if not isinstance(b, (ToolResult, ToolUse))]
    uses = message.tool_uses
    if not (rest or uses) and message.tool_results:
        return
    role = side(message)
    row: dict[str, Json] = {"role": "user" if role == "tool" else role, "content": _content(rest)}
    yield {**row, "tool_calls": list(map(_call, uses))} if uses else row


def _content(blocks: Sequence[Block]) -> Json:
    """A text alone, or a list of parts."""
    if all(isinstance(block, Text) for block in blocks) and len(blocks) < 2:
        return "".join(block.text for block in blocks if isinstance(block, Text))
    return list(map(_part, blocks))


def _part(block: Block) -> dict[str, Json]:
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text):
            hidden = bool(block.redacted)
            signed = block.redacted or block.signature or None
            return {"type": "reasoning", "reasoning": text, "signature": signed, "redacted": hidden}
        case Opaque():
            return {"type": "text", "text": str(json_line(block.value))}
    return {"type": "text", "text": str(json_line(block))}


def _call(use: ToolUse) -> dict[str, Json]:
    row: dict[str, Json] = {"id": use.id, "function": use.name, "type": "function"}
    if isinstance(use.input, dict):
        return {**row, "arguments": use.input}
    return {**row, "arguments": {}, "parse_error": f"not an object: {json_line(use.input)}"}


def _result(result: ToolResult, names: dict[str, str]) -> dict[str, Json]:
    content = result.content
    row: dict[str, Json] = {
        "role": "tool",
        "content": content if isinstance(content, str) else list(map(_part, content)),
        "tool_call_id": result.id,
        "function": names.get(result.id),
    }
    failed = {"type": "unknown", "message": result.text}
    return {**row, "error": failed} if result.is_error else row
