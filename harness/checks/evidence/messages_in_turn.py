"""Messages that come while a turn is open: in which turn the model gets them, by the policy of the
profile, and which replies answer them. One that answers a question of the agent continues it.

Only the words tell which message a request works on, and equal words may be of another."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from harness.checks.evidence.excuses import BLANK, REDELIVERY, Case, Marks, holds_for
from harness.checks.evidence.stored_messages import newest_text, squeeze
from harness.checks.evidence.turn_outcomes import is_waiting
from harness.core.history.exchanges import Exchange
from harness.core.history.trace import Delivery, Trace, Turn
from harness.core.values.messages import is_said_anew
from harness.core.values.verdict import Cause, Finding


def came_in_turn(trace: Trace, turn: Turn) -> Iterator[Case]:
    """Ask each message that came during a turn whether the policy's turn holds it.

    A reader may accept a message while its worker builds a request, so the second request after the
    acceptance is in time too. A request that fails is made again as it was.
    """
    policy = trace.profile.inbound_policy(turn.session)
    for delivery in turn.came:
        took = [e for e in turn.main if delivery.inbound.id in e.request.took and e.n > delivery.n]
        there = (e for e in turn.readable if e.called.at_ms >= delivery.inbound.at_ms)
        after = [e for e in there if e.n > delivery.n and e.succeeded and e.added]
        if delivery.n in _answers(turn) or not delivery.inbound.text.strip():
            continue  # nor has the model anything to read in a blank one
        own = next((t for t in trace.turns.values() if t.delivery is delivery), None)
        rule, events = "", (delivery.n, *(e.n for e in took or after))
        if took and (policy == "queue" or (policy == "collect" and took[0] is not turn.main[0])):
            rule, text = "early", "and the model gets it there, although the agent answers in order"
        elif policy == "queue" and (shared := _shared_turn(trace, turn, delivery)) is not None:
            events = (delivery.n, shared.main[0].n)
            rule, text = "early", f"and {shared.words} takes it in beside another, not in order"
        elif own is not None and own.main:
            waits = len(after) if policy in ("steer", "interrupt") else 0
            waits += 2 * (policy == "collect" and own.number > turn.number + 1)
            rule, text = "late" if waits > 1 else "", f"and the model gets it in {own.words}"
        if rule:
            text = f"the message {delivery.inbound.id} came during {turn.words}, {text}"
            cause = Cause(subject="request")
            found = Finding(f"inbound_exactly_once.{rule}", text, events, cause=cause)
            yield Case("nothing_done", [found], turn)


def _shared_turn(trace: Trace, turn: Turn, delivery: Delivery) -> Turn | None:
    """The later turn of another message that has taken a message in; after a kill an agent may
    answer at once what it has left."""
    taking = (t for t in trace.turns.values() if delivery in t.joined and t is not turn)
    return next((t for t in taking if t.main and not trace.kills), None)


def ends_twice(turn: Turn) -> bool:
    """Whether a turn ends several times; each message that it took in may have a reply, and a reply
    may come in parts."""
    named = [name for ending in turn.endings for name in ending.named or ("",)]
    is_shared = bool(turn.joined) and len({*named}) == len(named)
    return len(turn.endings) > 1 and not is_shared and not _is_split(turn)


_PART_NUMBER = re.compile(r"^[(\[]?\d{1,2}/\d{1,2}[)\]]?|[(\[]?\d{1,2}/\d{1,2}[)\]]?$")


def _is_split(turn: Turn) -> bool:
    """Whether all ends are together the last answer: a channel has a limit of characters
    (Telegram 4,096, Discord 2,000), and parts may be numbered."""
    last = turn.main[-1] if turn.main else None
    if last is None or last.reply is None or last.n > turn.endings[0].n:
        return False
    parts = [_PART_NUMBER.sub("", squeeze(ending.request.text)) for ending in turn.endings]
    return all(parts) and "".join(parts) == squeeze(last.reply.text)


def answers_question(trace: Trace, turn: Turn, first: Exchange) -> bool:
    """Whether the message answers the agent's own question, so that the model need not read it: the
    first request has the result of a call that waited for the user."""
    before = trace.turns.get((turn.session, turn.number - 1))
    if has_answered(trace, turn):
        return True
    if before is None or not is_waiting(before):
        return False
    return any(ask.sent_n == first.n for ask in before.asks)


_ECHOES = 3
"""Replies of the agent that come back in a row are an echo from here on; a user may quote two."""


def needs_nothing(trace: Trace, turn: Turn) -> bool:
    """Whether nothing need be done about the message of a turn: it has answered a question, or it
    is the agent's own reply that comes back again and again."""
    return has_answered(trace, turn) or _is_echo(trace, turn)


def _is_echo(trace: Trace, turn: Turn) -> bool:
    said, number = squeeze(turn.text), turn.number - 1
    while (before := trace.turns.get((turn.session, number))) and squeeze(before.text) == said:
        number -= 1
    replies = (squeeze(ending.request.text) for ending in before.endings) if before else ()
    return turn.number - number >= _ECHOES and bool(said) and said in replies


def has_answered(trace: Trace, turn: Turn) -> bool:
    """Whether the message of a turn came in an earlier one and was the answer to its question."""
    earlier = (t for t in trace.turns.values() if t.session == turn.session and t is not turn)
    return turn.delivery is not None and any(turn.delivery.n in _answers(each) for each in earlier)


def is_answered_before(turn: Turn, n: int) -> bool:
    """Whether a message that came in a turn had answered a question about a call by an event."""
    return any(answer_n < n for answer_n in _answers(turn))


def _answers(turn: Turn) -> set[int]:
    """The events of the messages that answered a question while the turn went on. The agent took
    them for itself, so the model need not read them."""
    return {sending.answer_n for sending in turn.sendings if sending.answer_n}


def stands_for(trace: Trace, turn: Turn, newest: str) -> str:
    """The message that the first request of a turn holds in place of the turn's own, if the model
    gets that one later; else ""."""
    first, said = turn.readable[0], squeeze(turn.text)
    there = (
        each.inbound.id
        for each in trace.deliveries
        if each is not turn.delivery and each.n < first.n and each.inbound.session == turn.session
        if each.inbound.text.strip() and each.inbound.text.strip() in newest
    )
    other, after, number = next(there, ""), [*turn.readable[1:]], turn.number + 1
    while other and (later := trace.turns.get((turn.session, number))) is not None:
        after += later.readable[:1]
        number += 1
    is_late = any(said in squeeze(newest_text(each)) for each in after)
    return f"the message {other}" if other and is_late else ""


def named_instead(trace: Trace, turn: Turn) -> str:
    """The message that the reply of a turn names in place of its own: an earlier one, answered
    before. "" for none, or where another reply names the turn's own message."""
    named = [name for ending in turn.endings for name in ending.named]
    own = turn.delivery.inbound.id if turn.delivery else ""
    # Its own name first: a search of all sendings for each turn is quadratic.
    if not named or not own or own in named or any(own in s.named for s in trace.sendings):
        return ""
    answered = {
        t.delivery.inbound.id
        for t in trace.turns.values()
        if t.session == turn.session and t.delivery and t.endings and t.opened_n < turn.opened_n
    }
    return named[0] if answered.issuperset(named) else ""


def why_twice(turn: Turn) -> str:
    """What a second reply of a turn comes from, in words: another message that the replies name, or
    a request of the turn between the first two; "" if nothing tells."""
    named = dict.fromkeys(name for ending in turn.endings for name in ending.named)
    own = turn.delivery.inbound.id if turn.delivery else ""
    if not named or own in named:
        first, second = turn.endings[0].n, turn.endings[1].n
        again = (e.called.key for e in turn.main if first < e.n < second)
        return next((f": {key} works on it again" for key in again), "")
    return f": its replies name {', '.join(named)}, and not {own}"


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
            for name in exchange.request.took:  # another message may have the same words in it
                taken = trace.received.get(name, {}).get(exchange.called.session, "")
                newest = newest.replace(squeeze(taken) or "\n", "\n", 1)
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
        beside = newest if is_own else newest.replace(own or "\n", "\n", 1)
        if text in beside and (is_own or (own != text and _is_anew(text, requests, place))):
            return exchange.n
    return 0


def _is_anew(text: str, requests: _Requests, place: int) -> bool:
    exchange, last = requests[place][0], requests[place - 1][0] if place else None
    # A request that failed is made again as it was, and a stored session may begin with the words.
    if last is not None and last.node is exchange.node and not last.succeeded:
        return False
    before = last.node.messages if last else ()
    return is_said_anew(text, exchange.node.newest(), exchange.node.messages, before)
