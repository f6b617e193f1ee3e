"""Items: the wire's flat list and the core's blocks, one item at a time.

An item that the core has a name for becomes blocks; any other one, and a known one with a field
missing or of the wrong type, is kept whole as `Opaque`.

Reasoning is `Thinking` where it fits: its summary is the text, its encrypted content the signature
(or, without a summary, the redacted data). Reasoning that the server keeps has neither; then its
id, which is all that binds it, is the signature. Of a result everything but text, parts and the
status `incomplete` (the only way to say that a tool failed, `is_error`) is left out, for the core
has no place for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.core.values.messages import Block, Json, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.providers.openai_responses.arguments import arguments_from
from harness.providers.openai_responses.text import INPUT, ITEM, Part, part_from

ANSWERS = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "mcp_approval_response",
        "shell_call_output",
    }
)
"""The items by which a client answers what a response asked for."""

_CLIENT = frozenset({"additional_tools", "compaction_trigger", "configuration_update"})
"""Other items that only a client says."""

RESULT = "function_call_output"


class Said(NamedTuple):
    """An item as the core sees it: whose it is, what it says, and if it is a message of text.

    `answers`: it answers calls, and what the user says next belongs to the same message.
    """

    role: str
    blocks: tuple[Block, ...]
    is_message: bool = False
    answers: bool = False


def kind_of(item: Json) -> str:
    """The kind of an item, "" for what is none; a message may leave it out."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message" if kind is None and "role" in item else ""


def read(item: Json, *, after_message: bool = False) -> Said:
    """An item as a value; `after_message`: the one before is a message of the same side."""
    kind = kind_of(item)
    if kind == "message":
        return _message(item, after_message)
    block = _READ[kind](item) if kind in _READ else None
    whole = item if isinstance(item, dict) else {"value": item}
    role = "user" if kind in ANSWERS or kind in _CLIENT else "assistant"
    return Said(role, (block or Opaque(kind, whole),), answers=kind in ANSWERS)


def _message(item: dict[str, Json], after_message: bool) -> Said:
    role = item.get("role")
    role = role if isinstance(role, str) else "user"
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": INPUT if role != "assistant" else "output_text", "text": content}]
    parts = [part_from(part, role) for part in content] if isinstance(content, list) else []
    blocks = [part for part in parts if part is not None]
    fields = _rest(item, ("role", "content"))
    marked = _marked(blocks, fields) if fields or after_message else blocks
    if not blocks or marked is None or len(blocks) < len(parts):
        return Said(role, (Opaque("message", item),))
    return Said(role, tuple(marked), is_message=True)


def _marked(parts: list[Part], fields: dict[str, Json]) -> list[Part] | None:
    """The parts with the item's fields at the first one; None when it can hold none."""
    if not parts or not isinstance(first := parts[0], Text):
        return None
    return [Text(first.text, {**first.extra, ITEM: fields}), *parts[1:]]


def _rest(item: dict[str, Json], known: tuple[str, ...]) -> dict[str, Json]:
    """The fields that say more: not the id, no usual status, no nulls."""
    skip = ("type", "id", *known)
    rest = {name: part for name, part in item.items() if name not in skip and part is not None}
    if rest.get("status") == "completed":
        del rest["status"]
    return rest


def _reasoning(item: dict[str, Json]) -> Block | None:
    summary, id_ = item.get("summary"), item.get("id")
    hidden = item.get("encrypted_content")
    if _rest(
        item, ("summary", "encrypted_content", *(() if item.get("content") else ("content",)))
    ):
        return None
    match summary:
        case []:
            text = ""
        case [{"type": "summary_text", "text": str(text), **rest}] if text and not rest:
            pass
        case _:
            return None
    if isinstance(hidden, str) and not hidden.startswith("rs_"):
        return Thinking(text, signature=hidden) if text else Thinking(redacted=hidden)
    kept = hidden is None and isinstance(id_, str) and id_.startswith("rs_")
    return Thinking(text, signature=id_) if kept and isinstance(id_, str) else None


def _call(item: dict[str, Json]) -> Block | None:
    id_, name, text = item.get("call_id"), item.get("name"), item.get("arguments")
    if not (isinstance(id_, str) and isinstance(name, str) and isinstance(text, str)):
        return None
    return ToolUse(id_, name, arguments_from(text), _rest(item, ("call_id", "name", "arguments")))


def _result(item: dict[str, Json]) -> Block | None:
    id_, output = item.get("call_id"), item.get("output")
    if not isinstance(id_, str):
        return None
    failed = item.get("status") == "incomplete"
    if isinstance(output, str):
        return ToolResult(id_, output, failed)
    parts = [part_from(part, "user") for part in output] if isinstance(output, list) else [None]
    known = tuple(part for part in parts if part is not None)
    return ToolResult(id_, known, failed) if len(known) == len(parts) else None


_READ: dict[str, Callable[[dict[str, Json]], Block | None]] = {
    "reasoning": _reasoning,
    "function_call": _call,
    RESULT: _result,
}
