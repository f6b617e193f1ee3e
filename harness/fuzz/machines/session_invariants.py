"""Invariants of an agent with a session, checked after every step on the new events only.

The harness's checks read a whole history, so they run only when an agent ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from harness.core.history.events import Answered, AnyEvent, Called, Killed, Noted, Stored
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest, OutboxRequest
from harness.core.values.messages import Json, Message, Opaque, ToolResult
from harness.core.values.verdict import Finding

SIZES = frozenset({"V23", "V24"})
"""Refusals for the size of a request, which an agent cannot foresee."""


class InvariantViolation(AssertionError):
    """An invariant is broken; `code` names it."""

    def __init__(self, code: str, text: str | Finding) -> None:
        super().__init__(f"{code}: {text}" if isinstance(text, str) else str(text))
        self.code = code


class SessionRequest(msgspec.Struct, frozen=True):
    """The last request of a session: its key, and the digests of all its messages."""

    key: str
    digests: tuple[str, ...]


class SessionInvariants:
    """Reads a history as it grows."""

    def __init__(self, history: History) -> None:
        self._history, self._read = history, 0
        self._values: dict[str, Json] = {}
        self._asked_before: dict[str, tuple[str, ...]] = {}
        self._main: dict[str, SessionRequest] = {}
        self._anew: dict[str, int] = {}
        self._stored: dict[str, str] = {}
        self._order: list[str] = []
        self._given: dict[str, str] = {}
        self._told: dict[str, int] = {}
        self._open: dict[str, str] = {}
        self._taken_back: set[str] = set()
        self.rows: dict[str, str] = {}
        self.kills = 0
        self.watches_rows = False

    def forget_beginnings(self) -> None:
        """Forget the last requests, because the stored session was changed from outside."""
        self._main.clear()

    def new(self) -> Iterator[InvariantViolation]:
        """Yield the invariants that the new events break."""
        for event in self._history.events[self._read :]:
            self._read += 1
            yield from self._see(event)

    def _see(self, event: AnyEvent) -> Iterator[InvariantViolation]:
        match event:
            case Noted():
                self._values[event.digest] = event.value
            case Called(request=ModelRequest() as asked):
                yield from self._asked(event, asked)
            case Called(request=OutboxRequest() as said) if said.kind in ("final", "error"):
                yield from self._said(said)
            case Answered(seam="inbox", value=dict(given)):
                self._came(given)
            case Answered(seam="model", status=400):
                self._shortened(event)
            case Stored():
                yield from self._kept(event)
            case Killed():
                self.kills += 1

    def _came(self, given: dict[str, Json]) -> None:
        """Handle a message or a cancel; a cancelled turn needs no answer."""
        session = given.get("session", "main")
        if given.get("kind") is None:
            self._given.setdefault(given["id"], given.get("text", ""))
            self._open[session] = given["id"]
        else:
            self._taken_back.add(self._open.get(session, ""))

    def _asked(self, event: Called, asked: ModelRequest) -> Iterator[InvariantViolation]:
        kept = self._asked_before.get(asked.after, ())[: asked.keep]
        request = SessionRequest(event.key, (*kept, *asked.messages))
        self._asked_before[event.key] = request.digests
        messages = [self._values[name] for name in request.digests]
        start = max(len(kept) - 1, 0)
        for code, text in _on_the_wire(messages, start):
            yield InvariantViolation(code, f"{event.key}: {text}")
        if set(event.refused) - SIZES:
            text = f"{event.key}: refused by {', '.join(event.refused)}"
            yield InvariantViolation("valid_request", text)
        if event.purpose == "main":
            yield from self._beginning(event, request)
        else:
            self._shortened(event)

    def _shortened(self, event: Called | Answered) -> None:
        """Allow a shorter history from now on: permanently, or until the next turn."""
        self._anew[event.session] = event.turn
        self._main.pop(event.session, None)

    def _beginning(self, event: Called, request: SessionRequest) -> Iterator[InvariantViolation]:
        """Check that a request begins like the last one.

        The last message alone may differ: it may be a note to the model after a pause, which is not
        stored. A turn with a shortened history is free.
        """
        if event.turn <= self._anew.get(event.session, -1):
            return
        before = self._main.get(event.session)
        self._main[event.session] = request
        if before is None:
            return
        kept = before.digests[:-1]
        if kept and _is_paused(self._values[kept[-1]]):
            kept = kept[:-1]
        if request.digests[: len(kept)] != kept:
            text = f"{event.key} does not begin as {before.key} did"
            yield InvariantViolation("prefix_stable", text)

    def _said(self, said: OutboxRequest) -> Iterator[InvariantViolation]:
        """Check that the user gets one answer to a message.

        A second one is allowed after a kill in between, or if the agent could not store the
        message.
        """
        for name in said.answers or ("",):
            if self._given.get(name, name).strip() and self._told.get(name) == self.kills:
                yield InvariantViolation("replied_once", f"{name} is answered twice")
            self._told[name] = self.kills

    def _kept(self, event: Stored) -> Iterator[InvariantViolation]:
        self.watches_rows = True
        for name in (*(row.id for row in event.changed), *event.gone):
            yield InvariantViolation("stored_once", f"the row {name} has changed or is gone")
        for row in event.added:
            self.rows[row.id] = row.digest
            if row.inbound in self._stored:
                text = f"the message {row.inbound} is stored twice"
                yield InvariantViolation("stored_once", text)
            if row.inbound:
                self._stored[row.inbound] = row.id
                self._order.append(row.inbound)

    def at_rest(self) -> Iterator[InvariantViolation]:
        """Yield what is broken at rest: all messages must be stored, in order, and answered."""
        meant = [name for name, text in self._given.items() if text.strip()]
        if self.watches_rows and self._order != meant:
            yield InvariantViolation("stored_once", f"stored are {self._order}, came in {meant}")
        for name in meant:
            if name not in self._told and name not in self._taken_back:
                yield InvariantViolation("replied_once", f"{name} is not answered")


def _on_the_wire(messages: Sequence[Message], start: int) -> Iterator[tuple[str, str]]:
    """Yield errors of alternation or pairing from a place on."""
    new = messages[start:]
    roles = [message.role for message in new]
    if any(a == b for a, b in pairwise(roles)) or (not start and roles[:1] != ["user"]):
        yield "alternation", f"roles {' '.join(roles)}"
    if roles[-1:] == ["assistant"] and not _is_paused(messages[-1]):
        yield "alternation", "the assistant has the last word"
    ids = [use.id for message in messages for use in message.tool_uses]
    if len(set(ids)) != len(ids):
        yield "pairing", f"an id comes twice: {ids}"
    first = messages[start - 1] if start else Message("assistant")
    for before, after in pairwise([first, *new]):
        called = sorted(use.id for use in before.tool_uses)
        answered = sorted(r.id for r in after.blocks if isinstance(r, ToolResult))
        if called != answered:
            yield "pairing", f"calls {called}, results {answered}"
    if messages and messages[-1].tool_uses:
        yield "pairing", "the last calls have no results"


def _is_paused(message: Message) -> bool:
    """Whether a message is a paused answer: it ends with a tool of the provider's own."""
    last = message.blocks[-1:]
    return message.role == "assistant" and any(isinstance(block, Opaque) for block in last)
