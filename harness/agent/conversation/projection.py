"""The projection of stored rows into a request, and a report of the damage in the rows.

Stored rows are never repaired: `project` makes a new list that the API accepts. Each message of the
list depends only on the rows before it, so a request is a prefix of the next one. Prompt caches and
signed thinking need that. Only a refused picture changes what was sent before it. Consecutive rows
of one role are not damage, because a failed turn leaves them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeAlias

import msgspec

from harness.agent.conversation.content import is_note, sendable_picture, text_of, without_refused
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

_KEPT = 32
"""The number of characters of an id that a new id keeps. Providers accept 40 characters, and a
model that copies a new id makes it longer each time."""

_WORDS = {
    "blank": "{n} stored without any content: left out",
    "foreign": "{n} of a role that no conversation has: left out",
    "early": "{n} from before the first question: left out",
    "orphan": "{n} with the result of an unknown call: the result was left out",
    "unanswered": "{n} with a call that never got a result: its outcome counts as unknown",
    "same_id": "{n} with a call whose id was used before: it got one of its own",
}


def project(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request for these rows; `rows` and its messages do not change."""
    rows, wire = without_refused(rows), list[Message]()
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
    """The rows as alternating sides of cleaned blocks, without empty ones."""
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
    return any(not isinstance(block, Thinking) for block in blocks)


def _cleaned(block: Block) -> Block:
    match block:
        case ToolUse(input=given) if not isinstance(given, dict):
            return msgspec.structs.replace(block, input={})
        case ToolResult(content=str(text)) if not text.strip():
            return msgspec.structs.replace(block, content=NO_TEXT)
        case ToolResult(content=tuple(parts)):
            kept = (p for p in parts if _carries(p, (Text, Opaque)))
            sent = tuple(sendable_picture(p) if isinstance(p, Opaque) else p for p in kept)
            return msgspec.structs.replace(block, content=sent or NO_TEXT)
        case Opaque():
            return sendable_picture(block)
    return block


def _paired(open_ids: Sequence[tuple[str, str]], blocks: Sequence[Block]) -> tuple[Block, ...]:
    """A user side: one result for each open call (id of the row, id on the wire), then the rest."""
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
    """An assistant side with unique call ids: some providers give every call one id, or none."""
    named: list[Block] = []
    pairs: list[tuple[str, str]] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            pairs.append((block.id, _unused(block.id or "call", used_ids)))
            block = msgspec.structs.replace(block, id=pairs[-1][1])
        named.append(block)
    return tuple(named), pairs


def _unused(id: str, used_ids: set[str]) -> str:
    names = (id if n == 1 else f"{id[:_KEPT]}_{n}" for n in count(1))
    name = next(name for name in names if name not in used_ids)
    used_ids.add(name)
    return name


def _join(wire: list[Message], role: str, blocks: tuple[Block, ...]) -> None:
    if wire and wire[-1].role == role:
        blocks = wire.pop().blocks + blocks
    wire.append(Message(role, blocks))


def project_as_text(rows: Sequence[Message]) -> list[Message]:
    """The messages of a request for these rows (`project`), each result as text.

    Some APIs carry only text in a tool's result. Other content is replaced by its name, so it must
    not count: without its pictures, a history is no smaller on such an API.
    """
    return [
        msgspec.structs.replace(message, blocks=tuple(map(_as_text, message.blocks)))
        for message in project(rows)
    ]


def _as_text(block: Block) -> Block:
    if not isinstance(block, ToolResult):
        return block
    return msgspec.structs.replace(block, content=text_of(block))


class DamageReport:
    """Reports damage to the user, each kind once."""

    def __init__(self) -> None:
        self._sessions: set[str] = set()
        self._told = 0

    def news(self, session: str, messages: Sequence[Message], notes: Sequence[str]) -> str:
        """The message about the damage of a loaded history; "" without new damage.

        `notes` are the store's messages about rows that it could not read.
        """
        new, self._told = list(notes[self._told :]), len(notes)
        if session not in self._sessions:
            self._sessions.add(session)
            new += damage_in(messages)
        if not new:
            return ""
        return "The stored conversation is damaged, and I go on with the rest: " + "; ".join(new)


def damage_in(messages: Sequence[Message]) -> list[str]:
    """The kinds of damage in a history, each with the number of messages."""
    counts = _Counting()
    for message in messages:
        counts.see(message)
    counts.close()
    seen = ((counts.of[kind], words) for kind, words in _WORDS.items())
    return [words.format(n="1 message" if n == 1 else f"{n} messages") for n, words in seen if n]


class _Counting:
    def __init__(self) -> None:
        self.of: Counter[str] = Counter()
        self._side = ""
        self._open: Counter[str] = Counter()
        self._used: set[str] = set()

    def see(self, message: Message) -> None:
        now = _ROLES.get(side(message), "")
        if is_note(message):
            return
        if not now:
            self.of["foreign"] += 1
        elif not _speaks([b for b in message.blocks if _carries(b, (object,))]):
            self.of["blank"] += 1
        elif not self._side and now == "assistant":
            self.of["early"] += 1
        else:
            self._speak(message, now)

    def _speak(self, message: Message, now: str) -> None:
        if now == "assistant" and self._side != now:
            self.close()
        self._side = now
        self.of.update(["same_id"] * any(c.id in self._used for c in message.tool_uses))
        for call in message.tool_uses:
            self._open[call.id] += 1
            self._used.add(call.id)
        orphan = False
        for result in message.tool_results:
            orphan |= not self._open[result.id]
            self._open[result.id] -= 1
        self.of.update(["orphan"] * orphan)

    def close(self) -> None:
        self.of.update(["unanswered"] * any(n > 0 for n in self._open.values()))
        self._open.clear()
