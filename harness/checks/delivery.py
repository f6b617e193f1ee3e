"""Whether messages arrive: each inbound one in one turn, each turn with one reply."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from harness.checks.begun import is_killed_between
from harness.checks.evidence.message_lists import squeeze
from harness.checks.evidence.outcomes import claimed, wrong
from harness.checks.rows import inbound_rows
from harness.core.history.exchanges import ENDINGS, Exchange, Sending
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

_Answered: TypeAlias = dict[tuple[str, str], list[Turn]]
"""Answered turns by session and first paragraph."""

_LOST = frozenset({"failed", "incomplete", "truncated"})
"""What is wrong with an answer that is asked for again as a whole."""

_ORDERLY = frozenset({"next", "returned"})
"""How a turn settles when nothing excuses a missing reply."""


@needs("inbox", "model")
def inbound_exactly_once(history: History) -> Iterator[Finding]:
    """Each inbound message is the newest user text of its own turn's first request, and no other.

    `lost`: the model never gets it, nothing answers it, or it is not stored. `twice`: it starts a
    second turn, comes again as new after it was answered, or is stored again. `order`: it stands
    in its request, but behind something older. Source: invariant 29.
    """
    trace = history.trace
    started: dict[str, Turn] = {}
    answered: _Answered = {}
    for turn in trace.turns.values():
        if turn.delivery is None or not turn.text.strip():
            continue
        first = started.setdefault(turn.delivery.inbound.id, turn)
        if first is not turn and turn.main and not (first.interrupted_n or first.store_failed):
            text = f"the message {turn.delivery.inbound.id} starts a second turn"
            yield Finding("inbound_exactly_once.twice", text, (first.opened_n, turn.main[0].n))
        if first is turn:
            yield from _in_request(turn, answered)
            yield from _in_store(trace, turn)
        if turn.endings:
            beginning = _paragraphs(turn.text)[0]
            answered.setdefault((turn.session, beginning), []).append(turn)


def _in_request(turn: Turn, answered: _Answered) -> Iterator[Finding]:
    assert turn.delivery is not None
    name, opened = turn.delivery.inbound.id, turn.delivery.n
    if not turn.main:
        if turn.settled_by in _ORDERLY and not (turn.sendings or _stopped(turn)):
            text = f"nothing is done about the message {name}"
            yield Finding("inbound_exactly_once.lost", text, (opened, turn.settled_n))
        return
    first = turn.main[0]
    newest = "\n\n".join(message.text for message in first.node.newest())
    if squeeze(turn.text) not in squeeze(newest):
        rule, text = _misplaced(turn.text, first)
        text = f"{first.called.key}: the message {name} {text}"
        yield Finding(f"inbound_exactly_once.{rule}", text, (opened, first.n))
    for earlier in _again(turn, newest, answered):
        text = f"{first.called.key}: the message of turn {earlier.number} comes again as new, "
        text += "although it was answered"
        events = (earlier.opened_n, earlier.endings[0].n, first.n)
        yield Finding("inbound_exactly_once.twice", text, events)


def _misplaced(text: str, exchange: Exchange) -> tuple[str, str]:
    if any(squeeze(text) in squeeze(m.text) for m in exchange.node.messages if m.role == "user"):
        return "order", "stands in the request, but not as its newest user text"
    return "lost", "is not in the first request of its turn"


def _again(turn: Turn, newest: str, answered: _Answered) -> Iterator[Turn]:
    """Earlier turns of the session, answered, whose text is a part of the newest user text."""
    whole = f"\n\n{newest}\n\n"
    for paragraph in dict.fromkeys(_paragraphs(newest)):
        for earlier in answered.get((turn.session, paragraph), ()):
            text = earlier.text.strip()
            if text not in turn.text and f"\n\n{text}\n\n" in whole:
                yield earlier


def _paragraphs(text: str) -> list[str]:
    return text.strip().split("\n\n")


def _in_store(trace: Trace, turn: Turn) -> Iterator[Finding]:
    if "store" not in trace.seams or not turn.settled_n or not turn.endings or turn.store_failed:
        return
    assert turn.delivery is not None
    rows = {placed.row.id: placed.n for placed in inbound_rows(trace, turn)}
    events = (turn.delivery.n, *rows.values(), turn.settled_n)
    if not rows:
        text = f"the message {turn.delivery.inbound.id} is not stored"
        yield Finding("inbound_exactly_once.lost", text, events)
    elif len(rows) > 1 and not any(c.turn is turn for c in trace.compactions):
        text = f"the message {turn.delivery.inbound.id} is stored {len(rows)} times"
        yield Finding("inbound_exactly_once.twice", text, events)


def _stopped(turn: Turn) -> bool:
    """Whether something from outside excuses that a turn has no end."""
    return bool(turn.cancelled_n or turn.interrupted_n or turn.limits)


def _excused(turn: Turn) -> bool:
    """Whether a turn may end without a word: a blank message, one that came before, or a stop."""
    return not turn.text.strip() or turn.redelivery or _stopped(turn)


@needs("inbox", "outbox")
def outbound_once(history: History) -> Iterator[Finding]:
    """A turn ends with exactly one final or error, and says no more once it is cancelled.

    `missing`: it ends without one, and its message is new. `twice`: with several. `repeated`: the
    part of a failed answer that the user has read is said again by the next one. `after_cancel`: a
    success is reported after the cancel; a notice, an error or the status `cancelled` is none. What
    the outbox did not take may be sent again; so may, after a kill or a lost answer of the outbox,
    what nobody knows to have arrived, with a word that it may be there already. Source: invariant
    30.
    """
    trace = history.trace
    for turn in trace.turns.values():
        if turn.delivery is None:
            continue
        where = f"turn {turn.number} of {turn.session}"
        endings = turn.endings
        if len(endings) > 1 and not all(_may_repeat(trace, turn, e) for e in endings[1:]):
            same = endings[0].request.text == endings[1].request.text
            text = f"{where} ends twice, with {'the same text' if same else 'different texts'}"
            yield Finding("outbound_once.twice", text, (endings[0].n, endings[1].n))
        if not endings and turn.settled_by in _ORDERLY and not _excused(turn):
            text = f"{where} ends without a reply"
            yield Finding("outbound_once.missing", text, (turn.opened_n, turn.settled_n))
        for sending in turn.sendings:
            late = 0 < turn.cancelled_n < sending.n and sending.request.kind == "final"
            if late and claimed(sending) != "cancelled":
                text = f"{where} was cancelled, and a final follows"
                yield Finding("outbound_once.after_cancel", text, (turn.cancelled_n, sending.n))
        yield from _repeated(turn, where)


def _may_repeat(trace: Trace, turn: Turn, later: Sending) -> bool:
    """Whether an ending is the first one again, after a kill or where the outbox took that one and
    its answer was lost, and says more than what was to be sent at first; or, after a kill, the one
    that could not be stored before."""
    first = turn.endings[0]
    meant = next(s for s in turn.sendings if s.request.kind in ENDINGS)
    killed = is_killed_between(trace, first.n, later.n)
    unconfirmed = first.answered is not None and first.answered.outcome != "ok"
    old, new = squeeze(meant.request.text), squeeze(later.request.text)
    is_whole = squeeze(first.request.text) in new
    said = (killed or unconfirmed) and old != new and old in new and is_whole
    return said or (killed and turn.store_failed)


def _repeated(turn: Turn, where: str) -> Iterator[Finding]:
    """What was shown of an answer that failed, and is shown again from its beginning."""
    starts = [e.n for e in turn.main]
    shown: list[list[Sending]] = [[] for _ in starts]
    for sending in turn.sendings:
        if sending.request.kind == "partial" and (place := bisect(starts, sending.n)):
            shown[place - 1].append(sending)
    for (exchange, first), (_, second) in pairwise(zip(turn.main, shown, strict=True)):
        said, again = ("".join(s.request.text for s in part) for part in (first, second))
        if said.strip() and again.startswith(said) and wrong(exchange) in _LOST:
            text = f"{where} shows a part of an answer that failed, and then shows it again"
            yield Finding("outbound_once.repeated", text, (first[0].n, second[0].n))
