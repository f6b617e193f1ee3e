"""Whether turns keep apart: one at a time in a session, and over when the user takes them back.

Two turns at once read each other's half-written history, and the store then holds both in pieces.
A cancel is judged from the moment that the agent saw it, for what was under way cannot be undone;
an agent that never looks is told by the outcome that the scenario expects.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

import msgspec

from harness.checks.evidence.message_lists import squeeze
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

_NUMBER = itemgetter(0)


class _Stretch(msgspec.Struct, frozen=True):
    """The work on one message: from the first request that asks it to the end that is said."""

    id: str
    session: str
    first_n: int
    last_n: int


@needs("inbox", "model", "outbox")
def turn_serial(history: History) -> Iterator[Finding]:
    """A session works on one message at a time.

    `overlap`: the model is asked a message while the answer to an earlier one of the session is
    still to come. Taking several messages in before they are worked on is no overlap, nor is one
    request that asks them all. What a reply answers is told by its `in_reply_to`. Source:
    invariant 29.
    """
    open_stretches: dict[str, _Stretch] = {}
    for stretch in sorted(_stretches(history.trace), key=lambda s: (s.first_n, s.last_n)):
        earlier = open_stretches.get(stretch.session)
        if earlier is not None and _overlap(earlier, stretch):
            text = f"the message {stretch.id} is worked on while {earlier.id} is not answered yet"
            events = (earlier.first_n, stretch.first_n, earlier.last_n)
            yield Finding("turn_serial.overlap", text, events)
        if earlier is None or earlier.last_n < stretch.last_n:
            open_stretches[stretch.session] = stretch


def _overlap(earlier: _Stretch, later: _Stretch) -> bool:
    """Whether two messages are worked on at once; after a kill one is handed out again."""
    return earlier.id != later.id and earlier.first_n < later.first_n < earlier.last_n


def _stretches(trace: Trace) -> Iterator[_Stretch]:
    asked: dict[str, list[tuple[int, str]]] = {}
    for exchange in trace.exchanges:
        if exchange.purpose == "main":
            newest = squeeze("".join(m.text for m in exchange.node.newest()))
            asked.setdefault(exchange.called.session, []).append((exchange.n, newest))
    ended = {
        (s.called.session, s.request.in_reply_to): s.n
        for s in reversed(trace.sendings)
        if s.ends_turn and s.request.in_reply_to
    }
    for turn in trace.turns.values():
        if turn.delivery is None or turn.redelivery or not turn.text.strip():
            continue
        text, opened = squeeze(turn.text), turn.delivery.n
        requests = asked.get(turn.session, [])
        start = bisect_right(requests, opened, key=_NUMBER)
        later = (requests[place] for place in range(start, len(requests)))
        first_n = next((n for n, newest in later if text in newest), 0)
        last_n = ended.get((turn.session, turn.delivery.inbound.id), 0)
        if first_n and last_n:
            yield _Stretch(turn.delivery.inbound.id, turn.session, first_n, last_n)


@needs("inbox", "model")
def cancel_honoured(history: History) -> Iterator[Finding]:
    """Once the agent has seen a cancel, it does nothing more for that turn.

    `request`: it asks the model again. `tool`: it runs a tool. What it says then is judged by
    `outbound_once`. Source: invariant 21.
    """
    for turn in history.trace.turns.values():
        if turn.cancelled_n:
            yield from _went_on(turn)


def _went_on(turn: Turn) -> Iterator[Finding]:
    where = f"turn {turn.number} of {turn.session} was cancelled"
    for exchange in turn.exchanges:
        if exchange.n > turn.cancelled_n and not exchange.called.sdk_retry:
            text = f"{where}, and {exchange.called.key} asks the model"
            yield Finding("cancel_honoured.request", text, (turn.cancelled_n, exchange.n))
            break
    for execution in turn.executions:
        if execution.n > turn.cancelled_n:
            text = f"{where}, and {execution.called.key} runs {execution.request.name}"
            yield Finding("cancel_honoured.tool", text, (turn.cancelled_n, execution.n))
            break
