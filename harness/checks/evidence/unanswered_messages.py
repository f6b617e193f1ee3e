"""What explains a message without a reply: words for the sentence of a finding, or no finding.

What is told is what a reader of the history would look for next: where the reply went, what the
turn met last, what it was taken for, or which kill or stop it was lost with.
"""

from __future__ import annotations

import re
import unicodedata

from harness.checks.evidence.stored_messages import durable_rows, inbound_rows, squeeze
from harness.core.history.exchanges import Sending
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import ToolResult


def begins_again(trace: Trace, turn: Turn) -> bool:
    """Whether a kill cut a turn before anything was done, and its message comes again next."""
    later = trace.turns.get((turn.session, turn.number + 1))
    names = [t.delivery.inbound.id for t in (turn, later) if t is not None and t.delivery]
    is_same = len(names) == 2 and len({*names}) == 1
    return is_same and bool(turn.interrupted_n) and not (turn.main or turn.sendings)


def why_unanswered(trace: Trace, turn: Turn) -> str:
    """What explains a turn without a reply: its reply came in another session, or after the next
    message was taken; its message came before a kill, and was not stored; it, or its key, reads as
    that of an earlier one; or what it met last.
    """
    name = turn.delivery.inbound.id if turn.delivery else ""
    after = (s for s in trace.sendings if s.ends_turn and s.n > turn.opened_n)
    reply = next((s for s in after if name in s.named), None)
    if reply is not None and reply.called.session == turn.session:
        early = f" before the agent takes the next message; {reply.called.key} is its reply"
        return f"{early}{_reads_ahead(trace, turn, 'queue')}"
    if _goes_on(trace, turn):
        hint = _reads_ahead(trace, turn, "steer")
        return f"{_met_last(trace, turn)}, and the next one goes on with its calls{hint}"
    if reply is not None and reply.called.session not in trace.received[name]:
        return f": its reply goes to the session {reply.called.session}"
    before = turn.came_in
    if before is None or not before.interrupted_n or "store" not in trace.seams:
        met = _met_last(trace, turn) or _reads_as_before(trace, turn)
        met = met or _lost_in_a_stop(trace, turn) or _key_as_before(trace, turn, name)
        return met or _stands_in_past(trace, turn) or _left_by_a_kill(trace, turn)
    if kept := inbound_rows(trace, before):
        if turn.main or kept[-1].place != len(durable_rows(trace, before)) - 1:
            return _left_by_a_kill(trace, turn)
        where = "the last row of the store, and no request after the start holds it"
        return f": when a kill ended {before.words}, its message was {where}"
    return f": when a kill ended {before.words}, its message was in no row of the store"


def _left_by_a_kill(trace: Trace, turn: Turn) -> str:
    was = turn.came_in or turn
    came_n = was.delivery.n if was.delivery else was.opened_n
    killed_n = next((n for n in reversed(trace.kills) if came_n < n < turn.settled_n), 0)
    how = f"a kill ended {was.words}" if was.opened_n < killed_n else "it waited when a kill came"
    return f": {how}, and no start takes it up" if killed_n and not turn.main else ""


def _reads_as_before(trace: Trace, turn: Turn) -> str:
    """The earlier turn whose message, or whose reply, has the words of this one: an agent that
    knows a copy by its words takes it for one."""
    said = turn.main[-1].reply.text.strip() if turn.main and turn.main[-1].reply else ""
    for number in range(turn.number - 1, 0, -1):
        earlier = trace.turns.get((turn.session, number))
        if earlier is None or earlier.delivery is None:
            continue
        if not turn.main and earlier.text.strip() == turn.text.strip():
            return f": it reads as {earlier.delivery.inbound.id}, which came before"
        if said and any(said == ending.request.text.strip() for ending in earlier.endings):
            return f": its answer reads as the reply of {earlier.words}"
    return ""


def _key_as_before(trace: Trace, turn: Turn, name: str) -> str:
    """The earlier message of another session whose id is the same, or whose session and id are the
    same letters together: an agent that knows a message by them takes it for a copy."""
    key = _letters(turn.session + name)
    for came in trace.deliveries if not turn.main else ():
        other = came.inbound
        if came.n >= turn.opened_n:
            break
        if other.session != turn.session and _letters(other.session + other.id) == key:
            return f": its session and id together read as those of {other.id} of {other.session}"
        if other.session != turn.session and other.id == name:
            return f": {other.session} has a message of the same id, which came before"
    return ""


def _lost_in_a_stop(trace: Trace, turn: Turn) -> str:
    """The turn in which a message came before the user stopped it: a loop that has taken steered
    messages out of its queue drops them as it ends (openclaw/openclaw#128008)."""
    came, before = turn.delivery, trace.turns.get((turn.session, turn.number - 1))
    if came is None or turn.main:
        return ""
    while before is not None and before.opened_n > came.n:
        before = trace.turns.get((turn.session, before.number - 1))
    if before is None or not came.n < before.cancelled_n:
        return ""
    return f": it came before the stop of {before.words}, and was lost with it"


def _stands_in_past(trace: Trace, turn: Turn) -> str:
    """The request that holds a message above what the model had read before: a steered message that
    was put into the past, where the model takes it for an old one."""
    said, came = squeeze(turn.text), turn.delivery
    if came is None or not said or turn.main:
        return ""
    own = (e for e in trace.exchanges if e.n > came.n and e.called.session == turn.session)
    for exchange in own:
        held = [said in squeeze(m.text) for m in exchange.node.messages if m.role == "user"]
        if any(held[:-1]) and not held[-1]:
            return f": {exchange.called.key} holds it above what the model had read before"
    return ""


def _letters(key: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", key)).casefold()


def _met_last(trace: Trace, turn: Turn) -> str:
    """What a turn that ends in silence had to handle last, and may have had no case for."""
    asked, ran = turn.main[-1:], turn.executions[-1:]
    said = ((sending, sending.answered) for sending in turn.sendings)
    if refused := [s for s, a in said if not (a and a.complete and a.outcome == "ok")]:
        return _sent_elsewhere(trace, refused[-1]) or f", after {refused[-1].called.key} failed"
    if ran and ran[0].failed and all(e.n < ran[0].n for e in asked):
        return f", after {ran[0].request.name} failed ({ran[0].called.key})"
    for last in asked:
        reply, key = last.reply, last.called.key
        if last.succeeded and not (reply and (reply.text.strip() or reply.tool_uses)):
            return f", after {key} brought an empty answer"
        came = (d for d in trace.deliveries if turn.opened_n < d.n < turn.settled_n)
        if newest := next((d.inbound.id for d in came if d is not turn.delivery), ""):
            return f", after the message {newest} came"
    return ""


def _sent_elsewhere(trace: Trace, refused: Sending) -> str:
    """The session that gets a reply which the outbox refused in its own, as by one list of what
    could not be sent."""
    text, session = squeeze(refused.request.text), refused.called.session
    for later in trace.sendings if text else ():
        where = later.called.session
        is_own = later.ends_turn and any(where in trace.received[name] for name in later.named)
        is_other = later.n > refused.n and where != session and not is_own
        if is_other and text in squeeze(later.request.text):
            key = later.called.key
            return f": {refused.called.key} failed, and {key} sends its words to another session"
    return ""


def _reads_ahead(trace: Trace, turn: Turn, policy: str) -> str:
    """The key to set, for an agent whose profile does not say what it does in mid-turn.

    Asking for the next message ends a turn then. A reader asks ahead, and who steers asks between
    two steps.
    """
    if trace.profile.inbound_policy(turn.session) is not None:
        return ""
    return f' (does it take messages in mid-turn? then its profile needs `inbound = "{policy}"`)'


def _goes_on(trace: Trace, turn: Turn) -> bool:
    """Whether the next turn begins with the results of this one's open calls."""
    following = trace.turns.get((turn.session, turn.number + 1))
    if following is None or not following.readable or not turn.main:
        return False
    last, first = turn.main[-1], following.readable[0]
    open_calls = {use.id for use in last.reply.tool_uses} if last.reply else set()
    sent = {b.id for node in first.added for b in node.message.blocks if isinstance(b, ToolResult)}
    return bool(open_calls & sent) and first.node.first(last.node.depth) is last.node
