"""Blocks as items: what the assistant says, and the messages of a conversation, written out.

Ids are given by place: an item's name is the prefix of its kind, the response's name, and its
number in the list. Neighbouring texts are one message item unless one says that its own begins.
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
)
from harness.providers.openai_responses.arguments import arguments_to
from harness.providers.openai_responses.items import RESULT
from harness.providers.openai_responses.text import ITEM, PARTS, Part, part_to

Item = dict[str, Json]


def output(blocks: Sequence[Block], name: str) -> list[Item]:
    """What the assistant says as the items of the response `name`."""
    items = enumerate(_items(blocks, "assistant"))
    return [_named(item, f"{name}{n}") if is_ours else item for n, (item, is_ours) in items]


def items_of(messages: Iterable[Message]) -> list[Item]:
    """Messages as the items of a request, without ids; reasoning is named by its place."""
    pairs = [pair for message in messages for pair in _items(message.blocks, message.role)]
    return [
        {"id": f"rs_{n}", **item} if is_ours and item["type"] == "reasoning" else item
        for n, (item, is_ours) in enumerate(pairs)
    ]


def _items(blocks: Iterable[Block], role: str) -> Iterator[tuple[Item, bool]]:
    """The items of blocks, each with whether we made it, or it was kept whole."""
    parts: list[Part] = []
    for block in blocks:
        is_part = isinstance(block, Text) or (isinstance(block, Opaque) and block.kind in PARTS)
        if parts and (not is_part or _begins(block)):
            yield _message(parts, role), True
            parts = []
        if is_part and isinstance(block, Text | Opaque):
            parts.append(block)
        else:
            yield _item(block), not isinstance(block, Opaque)
    if parts:
        yield _message(parts, role), True


def _begins(block: Block) -> bool:
    return isinstance(block, Text) and ITEM in block.extra


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
            text = arguments_to(given)
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
    """An item that we made, as the server gives it out: with its id and status."""
    kind = item["type"]
    done = {} if kind == "reasoning" else {"status": "completed"}
    return {"id": f"{_PREFIXES[kind]}{name}", **done, **item}
