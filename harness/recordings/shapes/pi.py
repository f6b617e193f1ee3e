"""Entries of a pi session as messages: three roles of the model, and four more of the program's.

What the program says (a command that the user ran, a summary, an extension's text) reaches the
model as a message of the user; here it stands without the words that are put around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from harness.recordings.shapes import fields as f

_TEXTS = {"text": "text"}


def message(entry: dict[str, Any]) -> Message | None:
    """What an entry says to the model; None when it says nothing."""
    kind = entry.get("type")
    if kind == "message":
        said = f.mapping(entry.get("message"))
        read = _ROLES.get(f.text(said.get("role")))
        return read(said) if read else None
    if kind == "custom_message":
        return _user(entry)
    if kind in ("compaction", "branch_summary"):
        return user(f.text(entry.get("summary")))
    return None


def facts(entry: dict[str, Any]) -> dict[str, Json]:
    """What an entry says besides: `model`, `stop` reason, and what a compaction `kept`."""
    if entry.get("type") == "compaction":
        return {"kept": f.text(entry.get("firstKeptEntryId"))}
    said = f.mapping(entry.get("message"))
    if said.get("role") != "assistant":
        return {}
    return {"model": f.text(said.get("model")), "stop": f.text(said.get("stopReason"))}


def _user(value: dict[str, Json]) -> Message:
    return Message("user", f.blocks(value.get("content"), _TEXTS))


def _assistant(value: dict[str, Json]) -> Message:
    content = value.get("content")
    if isinstance(content, str):
        return Message("assistant", f.blocks(content, _TEXTS))
    return Message("assistant", tuple(_block(block) for block in f.objects(content)))


def _block(block: dict[str, Json]) -> Block:
    match block:
        case {"type": "toolCall"}:
            return ToolUse(
                f.text(block.get("id")),
                f.text(block.get("name")),
                f.arguments(block.get("arguments")),
            )
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text, f.text(block.get("thinkingSignature")))
    return next(iter(f.blocks([block], _TEXTS)), Opaque("", block))


def _result(value: dict[str, Json]) -> Message:
    content = f.result_content(value.get("content"), _TEXTS)
    failed = value.get("isError") is True
    return Message("tool", (ToolResult(f.text(value.get("toolCallId")), content, failed),))


def _command(value: dict[str, Json]) -> Message | None:
    """A command that the user ran beside the talk; None when the model is not told of it."""
    if value.get("excludeFromContext") is True:
        return None
    return user(f"$ {f.text(value.get('command'))}\n{f.text(value.get('output'))}")


def _summary(value: dict[str, Json]) -> Message:
    return user(f.text(value.get("summary")))


_ROLES: dict[str, Callable[[dict[str, Json]], Message | None]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _result,
    "bashExecution": _command,
    "custom": _user,
    "hookMessage": _user,
    "branchSummary": _summary,
    "compactionSummary": _summary,
}
