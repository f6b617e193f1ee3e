"""A second opinion on a gateway's run, from the raw events alone.

It shares no code with the checks, so that a check that has gone blind does not hide a defect. It
knows more than a check may: that a row names the inbound message it keeps, and that the gateway
works on one message at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

from harness.core.history.events import Answered, AnyEvent, Called, Ended, Noted, Stored, StoredRow
from harness.core.values.calls import ModelRequest, OutboxRequest
from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolUse

WINDOW_RULES = {"V23", "V24"}


class Request(msgspec.Struct):
    """A request to the model: its event, and all of its messages."""

    called: Called
    messages: list[Message]


class Kept(msgspec.Struct):
    """A stored row and the event of the look that found it."""

    n: int
    row: StoredRow
    message: Message


Name: TypeAlias = tuple[str, str]
"""The session and the id of an inbound message: two chats may use one id."""


class Told(msgspec.Struct):
    """What the user was told: event, kind, text, and the inbound message it answers."""

    n: int
    kind: str
    text: str
    to: Name


class Read:
    """A history, read once: requests, rows, messages in and out."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.values = {e.digest: e.value for e in events if isinstance(e, Noted)}
        self.requests: list[Request] = []
        self.rows: list[Kept] = []
        self.inbound: dict[Name, str] = {}
        self.told: list[Told] = []
        self.lost_rows: list[str] = []
        self.end = ""
        self._lists: dict[str, list[Message]] = {}
        for event in events:
            self._see(event)

    def _see(self, event: AnyEvent) -> None:
        match event:
            case Stored():
                self.lost_rows += [row.id for row in event.changed] + list(event.gone)
                self.rows += [Kept(event.n, row, self.values[row.digest]) for row in event.added]
            case Called(request=ModelRequest() as asked):
                before = self._lists.get(asked.after, [])[: asked.keep]
                whole = before + [self.values[digest] for digest in asked.messages]
                self._lists[event.key] = whole
                self.requests.append(Request(event, whole))
            case Called(request=OutboxRequest() as said):
                to = (event.session, said.in_reply_to)
                self.told.append(Told(event.n, said.kind, said.text, to))
            case Answered(seam="inbox", value=dict(given)):
                name = (given.get("session", "main"), given["id"])
                self.inbound.setdefault(name, given.get("text", ""))
            case Ended():
                self.end = event.how


def objections(events: Sequence[AnyEvent], seeded: int) -> list[str]:
    """What is wrong with a run of the gateway over a session of `seeded` messages."""
    read = Read(events)
    found = [] if read.end == "returned" else [f"ended: {read.end}"]
    found += [f"row {name} has changed or is gone" for name in read.lost_rows]
    for request in read.requests:
        found += [f"{request.called.key}: {text}" for text in _on_the_wire(request)]
    return [*found, *_in_the_store(read, seeded)]


def _on_the_wire(request: Request) -> Iterator[str]:
    refused = set(request.called.refused) - WINDOW_RULES
    if refused:
        yield f"refused by {', '.join(sorted(refused))}"
    messages = request.messages
    roles = [message.role for message in messages]
    whole = roles[-1:] == ["user"] or _is_paused(messages[-1])
    if any(a == b for a, b in pairwise(roles)) or roles[:1] != ["user"] or not whole:
        yield f"roles {' '.join(roles)}"
    ids = [use.id for message in messages for use in message.tool_uses]
    if len(set(ids)) != len(ids):
        yield f"ids {ids}"
    for before, after in pairwise([Message("assistant"), *messages]):
        results = after.blocks[: len(before.tool_uses)]
        answered = [r.id for r in results if isinstance(r, ToolResult)]
        called = [use.id for use in before.tool_uses]
        if sorted(answered) != sorted(called) or len(after.tool_results) != len(called):
            yield f"calls {called}, results {[r.id for r in after.tool_results]}"
    for message in messages:
        if not message.blocks or any(_is_blank(block) for block in message.blocks):
            yield f"blank: {message}"


def _is_blank(block: object) -> bool:
    return isinstance(block, Text) and not block.text.strip()


def _is_paused(message: Message) -> bool:
    """Whether a message is a part of an answer: one that ends with a tool of the provider's own."""
    return message.role == "assistant" and isinstance(message.blocks[-1], Opaque)


def _in_the_store(read: Read, seeded: int) -> Iterator[str]:
    """One stretch of rows for each message that says something: itself, alternation, the reply."""
    expected = [name for name, text in read.inbound.items() if text.strip()]
    rows = read.rows[seeded:]
    starts = [at for at, kept in enumerate(rows) if kept.row.inbound]
    ids = [id for _, id in expected]
    if [rows[at].row.inbound for at in starts] != ids or starts[:1] not in ([0], []):
        yield f"rows keep {[kept.row.inbound for kept in rows]}, wanted {ids}"
        return
    for name, (at, end) in zip(expected, pairwise([*starts, len(rows)]), strict=True):
        stretch = rows[at:end]
        asked = [q.called.n for q in read.requests if q.called.n > _given(read, rows, at)]
        yield from (f"{name}: {text}" for text in _turn(read, name, stretch, asked))
    for id, text in read.inbound.items():
        if not text.strip():
            continue
        ends = [told for told in read.told if told.to == id and told.kind in ("final", "error")]
        if len(ends) != 1:
            yield f"{id} ({text!r}) is answered {len(ends)} times"


def _given(read: Read, rows: Sequence[Kept], at: int) -> int:
    """The event of the last row before the place: what comes later belongs to this message."""
    return rows[at - 1].n if at else 0


def _turn(read: Read, id: Name, stretch: Sequence[Kept], asked: Sequence[int]) -> Iterator[str]:
    first, last = stretch[0], stretch[-1]
    if first.message.role != "user" or first.message.text != read.inbound[id]:
        yield f"stored as {first.message}"
    roles = [kept.message.role for kept in stretch if not _is_paused(kept.message)]
    if any(a == b for a, b in pairwise(roles)) or roles[-1] != "assistant":
        yield f"stored roles {' '.join(roles)}"
    if asked and min(asked) < first.n:
        yield "the model was asked before the message was stored"
    for told in read.told:
        if told.to != id or told.kind != "final":
            continue
        if last.message.text != told.text:
            yield f"the reply {told.text!r} was told, {last.message.text!r} is stored"
        if last.n > told.n:
            yield "the reply was told before it was stored"
    calls = [b.id for kept in stretch for b in kept.message.blocks if isinstance(b, ToolUse)]
    answers = [b.id for kept in stretch for b in kept.message.blocks if isinstance(b, ToolResult)]
    if calls != answers:
        yield f"stored calls {calls}, stored results {answers}"
