"""Slow twins of the checks of what comes after: resuming after a kill, healing after a fault."""

from __future__ import annotations

from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.events import Answered, Called, Effected, Killed, Stored
from harness.core.history.history import History
from harness.core.history.trace import Turn
from tests.checks.twins_faults import Wrong, taken


def resume_bounded(history: History, resumes: int) -> Wrong:
    """Every request, run and message against the kills before it. A message that is begun too
    often, or parked, is told by its first request."""
    wrong: Wrong = set()
    trace = history.trace
    kills = [e.n for e in history.events if isinstance(e, Killed)]
    for id in {d.inbound.id for d in trace.deliveries}:
        turns = [t for t in trace.turns.values() if t.delivery and t.delivery.inbound.id == id]
        asked = [e.n for t in turns for e in t.main]
        if not asked:
            continue
        attempts = sorted({sum(k < n for k in kills) for n in asked})
        if len(attempts) > resumes + 1:
            wrong.add(("resume_bounded.again", min(asked)))
        killed = [a for a in attempts if a < len(kills)]
        returned = trace.ended is not None and trace.ended.how == "returned"
        said = [s for s in trace.sendings if taken(s, "final", "error", "notice")]
        about = [s for s in said if s.request.in_reply_to == id and s.n > min(asked)]
        if len(killed) > resumes and returned and not about:
            wrong.add(("resume_bounded.parked", min(asked)))
    for again in trace.executions:
        runs = [e for e in trace.executions if e.ask is again.ask and e.n < again.n]
        if runs and again.ask:
            between = [k for k in kills if runs[0].n < k < again.n]
            seen = between and 0 < again.ask.sent_n < between[0]
            if between and not seen and not _one_effect(history, runs[0].called, again.called):
                wrong.add(("resume_bounded.executed", again.n))
    return wrong


def _one_effect(history: History, first: Called, again: Called) -> bool:
    effects = [e for e in history.events if isinstance(e, Effected)]
    one = {e.idempotency_key for e in effects if e.key == first.key}
    two = {e.idempotency_key for e in effects if e.key == again.key}
    return one == two and len(one) > 0 and all(one)


def session_heals(history: History, messages: int) -> Wrong:
    """Every turn against all faults and turns before it; told by the turn's end."""
    wrong: Wrong = set()
    turns = [t for t in history.trace.turns.values() if t.delivery and t.settled_n]
    ill = _faults(history)
    for place, turn in enumerate(turns):
        earlier = turns[:place]
        met = [t.settled_n for t in earlier if not _is_free(t, ill)]
        over = max([n for n in ill if n < _begin(turn)] + met, default=0)
        judged = [t for t in earlier if _begin(t) > over and _is_usual(t)]
        looked_at = over and len(judged) < messages and _is_free(turn, ill) and _is_usual(turn)
        if looked_at and (rule := _rule(turn)):
            wrong.add((f"session_heals.{rule}", turn.settled_n))
    return wrong


def _faults(history: History) -> list[int]:
    failed = [e.answered.n for e in history.trace.executions if e.failed and e.answered]
    first = history.trace.deliveries[0].n if history.trace.deliveries else 0
    seeded = [e.n for e in history.events if isinstance(e, Stored) and e.n < first][:1]
    found = [
        e.n
        for e in history.events
        if isinstance(e, Killed)
        or (isinstance(e, Answered) and e.faults)
        or (isinstance(e, Answered) and e.seam == "inbox" and "kind" in (e.value or ()))
    ]
    return sorted([*failed, *seeded, *found])


def _begin(turn: Turn) -> int:
    assert turn.delivery is not None
    return turn.delivery.n


def _is_free(turn: Turn, ill: list[int]) -> bool:
    met = any(_begin(turn) <= n <= turn.settled_n for n in ill)
    return not met and not turn.interrupted_n and not turn.begun_n


def _is_usual(turn: Turn) -> bool:
    ours = [e for e in turn.exchanges if e.answered and e.answered.error == "script.exhausted"]
    return bool(turn.text.strip()) and not turn.redelivery and not turn.cancelled_n and not ours


def _rule(turn: Turn) -> str:
    good = [s for s in turn.endings if s.request.kind == "final" and claimed(s) == "completed"]
    last = turn.main[-1] if turn.main else None
    ends = turn.endings or turn.settled_by == "crashed"
    if good:
        return ""
    if last is None:
        return "unasked" if ends else ""
    if last.called.refused:
        return "" if "V23" in last.called.refused else "refused"
    calm = last.succeeded and not turn.asks and last.stop == "end_turn"
    words = last.reply is not None and last.reply.text.strip() != ""
    return "unanswered" if calm and words and ends else ""
