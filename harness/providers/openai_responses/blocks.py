"""Items, their parts, and the core's blocks, both ways.

An unknown or incomplete item stays whole as `Opaque`. Text and refusals are `Text`; `extra` names
an unusual kind. Reasoning is `Thinking`: its encrypted content is the signature or, without a
summary, the redacted data. Stored reasoning has its id as signature, because nothing else binds it.
Only the status `incomplete` tells that a tool failed; the core has no place for a result's other
fields. A written id is the kind's prefix, the response's name and the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

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
from harness.core.values.table_file import table
from harness.providers.openai_responses.namespaces import whole_name
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import written_arguments_from, written_arguments_to

OUTPUT, INPUT, REFUSAL = "output_text", "input_text", "refusal"
ITEM = "message"
"""The key in a text's `extra` that says: its own message item begins here, with these fields beside
its parts."""

_TEXTS = {OUTPUT: "text", INPUT: "text", "text": "text", REFUSAL: "refusal"}
"""The kinds of parts that are text, and the field that holds it."""

PARTS = frozenset(
    {*_TEXTS, "input_image", "input_file", "input_audio", "output_audio", "computer_screenshot"}
)
"""All kinds of parts; what has none of these inside a message makes the whole item opaque."""

Part = Text | Opaque


def usual(role: str) -> str:
    """The kind of a text that a role says."""
    return OUTPUT if role == "assistant" else INPUT


def part_from(value: Json, role: str) -> Part | None:
    """A part as a value; None for another value."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in PARTS:
        return None
    if kind not in _TEXTS:
        return Opaque(kind, value)
    text = value.get(_TEXTS[kind])
    if not isinstance(text, str):
        return None
    extra = {k: v for k, v in value.items() if k not in ("type", _TEXTS[kind]) and _says(k, v)}
    return Text(text, extra if kind == usual(role) else {"type": kind, **extra})


def _says(name: str, value: Json) -> bool:
    return value is not None and not (name in ("annotations", "logprobs") and value == [])


def part_to(part: Part, role: str) -> dict[str, Json]:
    """A part as the API has it; what the assistant says always has annotations."""
    if isinstance(part, Opaque):
        return part.value
    kind = part.extra.get("type", usual(role))
    more = {k: v for k, v in part.extra.items() if k not in ("type", ITEM)}
    annotations: dict[str, Json] = {"annotations": []} if kind == OUTPUT else {}
    return {"type": kind, _TEXTS.get(kind, "text"): part.text, **annotations, **more}


def is_refusal(block: object) -> bool:
    """Whether a block is the assistant's refusal."""
    return isinstance(block, Text) and block.extra.get("type") == REFUSAL


class ItemKind(msgspec.Struct, frozen=True):
    """A kind of item, or of part: what it is, its arguments, and the types of what it needs."""

    kind: str
    is_a: Literal["call", "answer", "client", "other", "part"]
    arguments: str = ""
    needs: dict[str, Literal["text", "list", "either"]] = {}


ITEMS = table(__package__, "items.tsv", ItemKind)


def _kinds(is_a: str) -> frozenset[str]:
    return frozenset(kind for kind, row in ITEMS.items() if row.is_a == is_a)


CALLS, ANSWERS, _CLIENT = _kinds("call"), _kinds("answer"), _kinds("client")
"""The items that are calls to the client, those by which it answers, and others only of its own."""

_OUTPUTS = ANSWERS - {"mcp_approval_response"}


RESULT = "function_call_output"


class ItemSaid(NamedTuple):
    """An item as the core sees it: whose it is, what it says, and if it is a message of text.

    `answers`: it answers calls, and what the user says next belongs to the same message.
    """

    role: str
    blocks: tuple[Block, ...]
    is_message: bool = False
    answers: bool = False


def kind_of(item: Json) -> str:
    """The kind of an item, "" for another value; a message may leave it out."""
    if not isinstance(item, dict):
        return ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message" if kind is None and "role" in item else ""


def read(item: Json, *, after_message: bool = False) -> ItemSaid:
    """An item as a value; `after_message`: the one before is a message of the same side."""
    kind = kind_of(item)
    if kind == "message":
        return _message_from(item, after_message)
    block = _READ[kind](item) if kind in _READ else None
    whole = item if isinstance(item, dict) else {"value": item}
    role = "user" if kind in ANSWERS or kind in _CLIENT else "assistant"
    return ItemSaid(role, (block or Opaque(kind, whole),), answers=kind in ANSWERS)


def _message_from(item: dict[str, Json], after_message: bool) -> ItemSaid:
    role = item.get("role")
    role = role if isinstance(role, str) else "user"
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": usual(role), "text": content}]
    parts = [part_from(part, role) for part in content] if isinstance(content, list) else []
    blocks = [part for part in parts if part is not None]
    fields = _rest(item, ("role", "content"))
    marked = _marked(blocks, fields) if fields or after_message else blocks
    if not blocks or marked is None or len(blocks) < len(parts):
        return ItemSaid(role, (Opaque("message", item),))
    return ItemSaid(role, tuple(marked), is_message=True)


def _marked(parts: list[Part], fields: dict[str, Json]) -> list[Part] | None:
    if not parts or not isinstance(first := parts[0], Text):
        return None
    return [Text(first.text, {**first.extra, ITEM: fields}), *parts[1:]]


def _rest(item: dict[str, Json], known: tuple[str, ...]) -> dict[str, Json]:
    skip = ("type", "id", *known)
    rest = {name: part for name, part in item.items() if name not in skip and part is not None}
    if rest.get("status") == "completed":
        del rest["status"]
    return rest


def _reasoning_from(item: dict[str, Json]) -> Block | None:
    summary, id_ = item.get("summary"), item.get("id")
    hidden = item.get("encrypted_content")
    empty = () if item.get("content") else ("content",)
    if _rest(item, ("summary", "encrypted_content", *empty)):
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
    if hidden is None and isinstance(id_, str) and id_.startswith("rs_"):
        return Thinking(text, signature=id_)
    return None


def _call(item: dict[str, Json]) -> Block | None:
    id_, name, text = item.get("call_id"), item.get("name"), item.get("arguments")
    if not (isinstance(id_, str) and isinstance(name, str) and isinstance(text, str)):
        return None
    rest = _rest(item, ("call_id", "name", "namespace", "arguments"))
    return ToolUse(id_, whole_name(item), written_arguments_from(text), rest)


def _result_from(item: dict[str, Json]) -> Block | None:
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
    "reasoning": _reasoning_from,
    "function_call": _call,
    RESULT: _result_from,
}


Item = dict[str, Json]


def output(blocks: Sequence[Block], name: str) -> list[Item]:
    """What the assistant says as the items of the response `name`."""
    items = enumerate(_items(blocks, "assistant"))
    return [_named(item, f"{name}{n}") if is_ours else item for n, (item, is_ours) in items]


def items_of(messages: Iterable[Message]) -> list[Item]:
    """Messages as the items of a request, without ids; reasoning is named by its place.

    So is the message of the assistant that follows it, because the API knows that by its id.
    """
    pairs = [pair for message in messages for pair in _items(message.blocks, message.role)]
    named: list[Item] = []
    for n, (item, is_ours) in enumerate(pairs):
        kind = item["type"] if is_ours else ""
        follows = bool(named) and named[-1].get("type") == "reasoning"
        if kind == "reasoning" or (kind == "message" and follows and item["role"] == "assistant"):
            item = {"id": f"{_PREFIXES[kind]}{n}", **item}
        named.append(item)
    return named


def _items(blocks: Iterable[Block], role: str) -> Iterator[tuple[Item, bool]]:
    parts: list[Part] = []
    for block in blocks:
        is_part = isinstance(block, Text) or (isinstance(block, Opaque) and block.kind in PARTS)
        if parts and (not is_part or (isinstance(block, Text) and ITEM in block.extra)):
            yield _message(parts, role), True
            parts = []
        if is_part and isinstance(block, Text | Opaque):
            parts.append(block)
        else:
            yield _item(block), not isinstance(block, Opaque)
    if parts:
        yield _message(parts, role), True


def _message(parts: list[Part], role: str) -> Item:
    first = parts[0]
    fields = first.extra.get(ITEM, {}) if isinstance(first, Text) else {}
    content = [part_to(part, role) for part in parts]
    return {"type": "message", "role": role, "content": content, **fields}


def _item(block: Block) -> Item:
    match block:
        case Thinking():
            return _reasoning(block)
        case ToolUse(id_, name, given, extra):
            text = written_arguments_to(given)
            call = {"type": "function_call", "call_id": id_, "name": name, "arguments": text}
            return {**call, **extra}
        case ToolResult():
            return _result(block)
        case Opaque(value=value):
            return value
    raise AssertionError(block)


def _reasoning(block: Thinking) -> Item:
    summary = [{"type": "summary_text", "text": block.text}] if block.text else []
    item: Item = {"type": "reasoning", "summary": summary}
    if block.signature.startswith("rs_") and not block.redacted:
        return {**item, "id": block.signature}
    return {**item, "encrypted_content": block.redacted or block.signature}


def _result(block: ToolResult) -> Item:
    content: Json = block.content
    if not isinstance(content, str):
        content = [part_to(part, "user") for part in content]
    item = {"type": RESULT, "call_id": block.id, "output": content}
    return {**item, "status": "incomplete"} if block.is_error else item


_PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_", RESULT: "fco_"}


def _named(item: Item, name: str) -> Item:
    kind = item["type"]
    done = {} if kind == "reasoning" else {"status": "completed"}
    return {"id": f"{_PREFIXES[kind]}{name}", **done, **item}


_RECORDED_TEXTS = dict.fromkeys((INPUT, OUTPUT, "text", "summary_text"), "text")


def recorded_messages(items: Iterable[dict[str, Json]]) -> Iterator[Message]:
    """Items of a recording as messages: neighbours of the assistant are one.

    A result is a message of role `tool`.
    """
    said: list[Block] = []
    for item in items:
        role, blocks = _recorded_item(item)
        if role == "assistant":
            said.extend(blocks)
            continue
        if said:
            yield Message("assistant", tuple(said))
            said = []
        yield Message(role, blocks)
    if said:
        yield Message("assistant", tuple(said))


def _recorded_item(item: dict[str, Json]) -> tuple[str, tuple[Block, ...]]:
    kind = f.text(item.get("type"))
    is_client = item.get("execution") in ("client", "local")
    if kind in CALLS or (kind == "tool_search_call" and is_client):
        return "assistant", (_recorded_call(item, kind),)
    if kind in _OUTPUTS or (kind == "tool_search_output" and is_client):
        return "tool", (_recorded_result(item),)
    if "role" in item and kind not in ("message", ""):
        return f.text(item.get("role")), (Opaque(kind, item),)
    if kind in ("message", ""):
        role = f.text(item.get("role")) or "assistant"
        return role, f.blocks(item.get("content"), _RECORDED_TEXTS)
    return "assistant", (Opaque(kind, item),)


_NAMED_CALLS = frozenset({"function_call", "custom_tool_call"})
"""The calls that name their tool; the kind of any other one is its tool."""


def _recorded_call(item: dict[str, Json], kind: str) -> Block:
    given = f.arguments(item.get(ITEMS[kind].arguments if kind in CALLS else "arguments"))
    name = f.text(item.get("name")) or kind.removesuffix("_call")
    if kind in _NAMED_CALLS and not f.text(item.get("name")).strip():
        return Opaque(f.UNREAD_CALL, {"reason": "a call has no name", "call": item})
    return ToolUse(f.identifier(item.get("call_id")) or f.identifier(item.get("id")), name, given)


def _recorded_result(item: dict[str, Json]) -> ToolResult:
    content = item["output"] if "output" in item else item.get("tools")
    return ToolResult(f.identifier(item.get("call_id")), f.result_content(content, _RECORDED_TEXTS))


def is_own(message: dict[str, Json]) -> bool:
    """Whether an entry of a recorded list is an item, as only this API has them."""
    return message.get("type") in ("function_call", RESULT, "reasoning", "message")
