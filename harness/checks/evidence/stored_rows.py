"""Stored rows and the turns they belong to: what several checks ask of a store.

A row that names its inbound message is known by that; a row of a foreign store by its text, in
which white space does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.checks.evidence.message_lists import same_text
from harness.core.history.events import StoredRow
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import Message, side


class Placed(msgspec.Struct, frozen=True):
    """A stored row: the event it was stored by, its place in the turn, row and message."""

    n: int
    place: int
    row: StoredRow
    message: Message


_BY_ANOTHER = frozenset({"persistence.second_writer", "persistence.second_agent"})
"""Faults that are the writes of another process on the session."""


def written_by_another(trace: Trace) -> list[int]:
    """The events at which another process has stored something in the session."""
    return [a.n for a in trace.answers if a.seam == "store" and _BY_ANOTHER.intersection(a.faults)]


def finished_turns(trace: Trace) -> Iterator[Turn]:
    """Delivered turns that ended with a final or an error, once nothing can be added to them."""
    for turn in trace.turns.values():
        if turn.delivery and turn.text.strip() and turn.settled_n and turn.endings:
            yield turn


def inbound_rows(trace: Trace, turn: Turn) -> list[Placed]:
    """The rows of the turn that keep its inbound message, durable ones only."""
    return [p for p in _durable(trace, turn) if keeps_inbound(p.row, p.message, turn)]


def reply_rows(trace: Trace, turn: Turn, text: str) -> list[Placed]:
    """The rows of the turn that keep a reply of this text, durable ones only."""
    return [
        p
        for p in _durable(trace, turn)
        if side(p.message) == "assistant" and same_text(p.message.text, text)
    ]


def _durable(trace: Trace, turn: Turn) -> list[Placed]:
    return [
        Placed(event.n, place, row, message)
        for place, (event, row, message) in enumerate(trace.rows_added(turn))
        if event.durable
    ]


def keeps_inbound(row: StoredRow, message: Message, turn: Turn) -> bool:
    """Whether a row keeps the inbound message of the turn."""
    if turn.delivery is None:
        return False
    if row.inbound:
        return row.inbound == turn.delivery.inbound.id
    return is_user_text(message) and same_text(message.text, turn.text)


def is_user_text(message: Message) -> bool:
    """Whether the user says it: no tool results."""
    return side(message) == "user" and not message.tool_results
