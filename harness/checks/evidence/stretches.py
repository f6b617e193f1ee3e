"""The stretches of a session in which the agent works on one message, up to its answer.

Only the words tell which message a request works on, and equal words may be those of another one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from harness.checks.evidence.excuses import BLANK, REDELIVERY, Marks, holds_for
from harness.checks.evidence.stored_messages import squeeze
from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import is_said_anew

NO_STRETCH = (BLANK, REDELIVERY)
"""What a message has no stretch of its own after."""

_Requests: TypeAlias = list[tuple[Exchange, str, str]]
"""The requests of a session, each with its newest words and those of its turn's message."""


class Stretch(msgspec.Struct, frozen=True):
    """The work on one message: from its first request to the reported end."""

    id: str
    session: str
    first_n: int
    last_n: int


def stretches(trace: Trace) -> Iterator[Stretch]:
    """The stretch of each message that a request holds before its answer."""
    asked = _requests(trace)
    ended = {
        (s.called.session, name): s.n
        for s in reversed(trace.sendings)
        if s.ends_turn
        for name in s.named
    }
    marks = Marks(trace)
    for turn in trace.turns.values():
        if turn.delivery is None or holds_for(turn, marks, NO_STRETCH):
            continue
        inbound, requests = turn.delivery.inbound, asked.get(turn.session, [])
        last_n = ended.get((turn.session, inbound.id), 0)
        if first_n := _first(turn, turn.delivery.n, last_n, requests):
            yield Stretch(inbound.id, turn.session, first_n, last_n)


def _requests(trace: Trace) -> dict[str, _Requests]:
    asked: dict[str, _Requests] = {}
    for exchange in trace.exchanges:
        if exchange.purpose == "main":
            newest = squeeze("".join(m.text for m in exchange.node.newest()))
            turn = trace.turns.get((exchange.called.session, exchange.called.turn))
            own = squeeze(turn.text) if turn else ""
            asked.setdefault(exchange.called.session, []).append((exchange, newest, own))
    return asked


def _first(turn: Turn, opened_n: int, last_n: int, requests: _Requests) -> int:
    """The first request that works on a message; one behind its answer only quotes it."""
    text = squeeze(turn.text)
    start = bisect_right(requests, opened_n, key=lambda one: one[0].n)
    for place in range(start, bisect_left(requests, last_n, key=lambda one: one[0].n)):
        exchange, newest, own = requests[place]
        is_own = exchange.called.turn == turn.number
        # A request of another turn holds that turn's words, or a summary's, which may be equal.
        if text in newest and (is_own or (own != text and _is_anew(text, requests, place))):
            return exchange.n
    return 0


def _is_anew(text: str, requests: _Requests, place: int) -> bool:
    node, before = requests[place][0].node, requests[place - 1][0].node.messages if place else ()
    return is_said_anew(text, node.newest(), node.messages, before)
