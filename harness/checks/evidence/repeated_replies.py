"""Whether a reply that is sent again may be sent again, and whether it says so.

A channel gives no receipt that outlives a crash. An agent may be killed between the delivery and
the note of it, and an answer of the outbox may be lost. Then only the agent's own words tell the
user that a reply may be a repetition (decision 0008).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise

from harness.checks.evidence.excuses import is_killed_between
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.evidence.turn_outcomes import wrong
from harness.core.history.exchanges import ENDINGS, Sending
from harness.core.history.trace import Trace, Turn

_LOST = frozenset({"failed", "incomplete", "truncated"})
"""Answers of which a part was shown, and which the agent may ask for again."""


def is_unsure(trace: Trace, reply: Sending) -> bool:
    """Whether an agent cannot know that the user has a reply: the outbox's answer was lost, or a
    kill came before the session went on."""
    if _is_unconfirmed(reply):
        return True
    killed_n = next((n for n in trace.kills if n > reply.n), 0)
    session = reply.called.session
    later = (e.called.n for e in trace.exchanges if e.called.session == session)
    return killed_n > 0 and not any(reply.n < n < killed_n for n in later)


def _is_unconfirmed(reply: Sending) -> bool:
    return reply.answered is not None and reply.answered.outcome != "ok"


def outbox_was_silent(turn: Turn) -> bool:
    """Whether the outbox did not answer a reply of the turn in time: so the agent cannot know."""
    ends = (s.answered for s in turn.sendings if s.request.kind in ENDINGS)
    return any(answered is not None and answered.outcome == "timeout" for answered in ends)


def is_unsure_copy(trace: Trace, old: Sending, new: Sending) -> bool:
    """Whether an unsure reply is sent again word for word. An agent with a table of what is to be
    sent does so: at least once is what it promises."""
    return squeeze(old.request.text) == squeeze(new.request.text) and is_unsure(trace, old)


def is_marked_copy(trace: Trace, old: Sending, new: Sending) -> bool:
    """Whether a reply is sent again after a kill or a lost answer of the outbox, and says so."""
    is_doubtful = is_killed_between(trace, old.n, new.n) or is_unsure(trace, old)
    return is_doubtful and _adds_to(old, new)


def _adds_to(old: Sending, new: Sending) -> bool:
    first, second = squeeze(old.request.text), squeeze(new.request.text)
    return first != second and first in second


def shown_again(turn: Turn) -> Iterator[tuple[Sending, Sending]]:
    """Yield each part of a failed answer that was shown, with its second showing in the next."""
    starts = [e.n for e in turn.main]
    shown: list[list[Sending]] = [[] for _ in starts]
    for sending in turn.sendings:
        if sending.request.kind == "partial" and (place := bisect(starts, sending.n)):
            shown[place - 1].append(sending)
    for (exchange, first), (_, second) in pairwise(zip(turn.main, shown, strict=True)):
        said, again = ("".join(s.request.text for s in part) for part in (first, second))
        if said.strip() and again.startswith(said) and wrong(exchange) in _LOST:
            yield first[0], second[0]


def may_repeat(trace: Trace, turn: Turn, later: Sending) -> bool:
    """Whether a second ending is allowed. It repeats the first after a kill, or after the outbox's
    answer was lost, and adds a note to it. Or the first could not be stored before a kill. An agent
    whose store works knows of a reply that had arrived before the session went on."""
    first, before = turn.endings[0], [e for e in turn.endings if e.n < later.n]
    # A reply to two messages may be sent again to each of them.
    alike = [e for e in before if not {*e.named}.isdisjoint(later.named)]
    old = (alike or before)[-1]
    meant = next(s for s in turn.sendings if s.request.kind in ENDINGS)
    killed = is_killed_between(trace, first.n, later.n)
    is_whole = squeeze(first.request.text) in squeeze(later.request.text)
    is_doubtful = is_unsure(trace, old) or (killed and _may_have_forgotten(trace))
    said = is_doubtful and _adds_to(meant, later) and is_whole
    return said or (killed and turn.store_failed)


def _may_have_forgotten(trace: Trace) -> bool:
    """Whether the store failed or was damaged: an older copy holds no reply that came after it, or
    lacks the note that one was delivered."""
    bent = (a for a in trace.answers if a.seam == "store" and (a.outcome != "ok" or a.faults))
    return bool(trace.damages) or any(bent)


def is_kept_back(trace: Trace, turn: Turn) -> bool:
    """Whether the store held the reply of a turn that a kill ended, and the user never gets it: the
    agent goes on, and neither sends it, nor tells of the stop, nor answers the message again."""
    last = turn.main[-1].reply if turn.main else None
    is_ended = turn.interrupted_n and not turn.cancelled_n
    if last is None or last.tool_uses or turn.delivery is None or not is_ended:
        return False
    words, name = squeeze(last.text), turn.delivery.inbound.id
    stored = (m for _, _, m in trace.rows_added(turn) if m.role == "assistant" and not m.tool_uses)
    if not words or all(squeeze(message.text) != words for message in stored):
        return False
    later = [s for s in trace.sendings if s.n > turn.interrupted_n]
    told = (
        words in squeeze(s.request.text) or name in s.named or s.request.kind != "final"
        for s in later
        if s.called.session == turn.session
    )
    came = [t for t in trace.turns.values() if t.delivery and t.opened_n > turn.interrupted_n]
    comes_again = any(t.delivery and t.delivery.inbound.id == name for t in came)
    goes_on = any(t.session == turn.session and t.endings for t in came)
    return goes_on and not comes_again and not any(told)
