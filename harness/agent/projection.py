"""From stored rows to what the model is sent: always on a copy.

The rows are what happened and are never repaired. A list that the API takes is made from them anew
for each request, by a pure function: it alternates, begins with the user, answers every call once
and at once, and has no blank in it. It depends on nothing but the rows before a place, so a longer
history has the shorter one's requests as a prefix, and prompt caches and signed thinking stay good.
A history that was damaged long ago therefore gets an ordinary answer now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

import msgspec

from harness.agent.images import sendable
from harness.core.values.messages import (
    Block,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    side,
)

Projection: TypeAlias = Callable[[Sequence[Message]], list[Message]]

NO_OUTCOME = "The outcome of this call is unknown: it was interrupted."
NO_TEXT = "(the tool returned nothing)"

_ROLES = {"user": "user", "tool": "user", "assistant": "assistant"}
_ALLOWED: dict[str, tuple[type, ...]] = {
    "user": (Text, ToolResult, Opaque),
    "assistant": (Text, Thinking, ToolUse, Opaque),
}


def project(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request for these rows; `rows` and its messages stay as they are."""
    wire: list[Message] = []
    used_ids: set[str] = set()
    open_ids: list[tuple[str, str]] = []
    for role, blocks in _sides(rows):
        if role == "user":
            blocks, open_ids = _paired(open_ids, blocks), []
        elif wire:
            blocks, named = _named(blocks, used_ids)
            open_ids += named
        else:
            blocks = ()
        if blocks:
            _join(wire, role, blocks)
    if open_ids:
        wire.append(Message("user", _paired(open_ids, ())))
    return wire


def _sides(rows: Sequence[Message]) -> list[tuple[str, tuple[Block, ...]]]:
    """The rows as alternating sides, each block cleaned; what carries nothing is gone."""
    sides: list[tuple[str, tuple[Block, ...]]] = []
    for row in rows:
        role = _ROLES.get(side(row), "")
        blocks = tuple(_cleaned(b) for b in row.blocks if _carries(b, _ALLOWED.get(role, ())))
        if not _speaks(blocks):
            continue
        if sides and sides[-1][0] == role:
            blocks = sides.pop()[1] + blocks
        sides.append((role, blocks))
    return sides


def _carries(block: Block, allowed: tuple[type, ...]) -> bool:
    blank = isinstance(block, Text) and not block.text.strip()
    return isinstance(block, allowed) and not blank


def _speaks(blocks: Sequence[Block]) -> bool:
    """Whether there is more than thinking."""
    return any(not isinstance(block, Thinking) for block in blocks)


def _cleaned(block: Block) -> Block:
    match block:
        case ToolUse(input=given) if not isinstance(given, dict):
            return msgspec.structs.replace(block, input={})
        case ToolResult(content=str(text)) if not text.strip():
            return msgspec.structs.replace(block, content=NO_TEXT)
        case ToolResult(content=tuple(parts)):
            kept = (p for p in parts if _carries(p, (Text, Opaque)))
            sent = tuple(sendable(p) if isinstance(p, Opaque) else p for p in kept)
            return msgspec.structs.replace(block, content=sent or NO_TEXT)
        case Opaque():
            return sendable(block)
    return block


def _paired(open_ids: Sequence[tuple[str, str]], blocks: Sequence[Block]) -> tuple[Block, ...]:
    """A user side: one result for each open call (id of the row, id on the wire), then the rest.

    A call without a result gets a stub; a result without a call, or a second one, is left out.
    """
    given: dict[str, list[ToolResult]] = {}
    for block in blocks:
        if isinstance(block, ToolResult):
            given.setdefault(block.id, []).append(block)
    answers: list[Block] = []
    for row_id, wire_id in open_ids:
        waiting = given.get(row_id)
        found = waiting.pop(0) if waiting else ToolResult("", NO_OUTCOME, is_error=True)
        answers.append(msgspec.structs.replace(found, id=wire_id))
    return (*answers, *(b for b in blocks if not isinstance(b, ToolResult)))


def _named(
    blocks: Sequence[Block], used_ids: set[str]
) -> tuple[tuple[Block, ...], list[tuple[str, str]]]:
    """An assistant side whose calls have ids of their own, and the pairs of old and new id.

    Some providers give every call the same id, or none.
    """
    named: list[Block] = []
    pairs: list[tuple[str, str]] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            pairs.append((block.id, _unused(block.id or "call", used_ids)))
            block = msgspec.structs.replace(block, id=pairs[-1][1])
        named.append(block)
    return tuple(named), pairs


_KEPT = 32
"""How much of an id is kept in a new one: providers take 40 characters, and a model that copies a
new id makes it longer each time."""


def _unused(id: str, used_ids: set[str]) -> str:
    names = (id if n == 1 else f"{id[:_KEPT]}_{n}" for n in count(1))
    name = next(name for name in names if name not in used_ids)
    used_ids.add(name)
    return name


def _join(wire: list[Message], role: str, blocks: tuple[Block, ...]) -> None:
    if wire and wire[-1].role == role:
        blocks = wire.pop().blocks + blocks
    wire.append(Message(role, blocks))
