"""Slow twins of the checks of failures: each asks one event at a time, and looks at all others.

A twin gives the rules that are broken, each with the event by which a finding names it: the last
of its events, or for what is lost or begun the first. Those of streams stand in `twins_streams`,
those of what comes after a kill or a fault in `twins_recovery`.
"""

from __future__ import annotations

from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.events import Answered, Called, Killed, Stored
from harness.core.history.exchanges import Execution, Sending
from harness.core.history.history import History
from harness.core.values.calls import StoreRequest
from harness.core.values.messages import ToolResult

Wrong = set[tuple[str, int]]


def taken(sending: Sending, *kinds: str) -> bool:
    """Whether it is of one of these kinds, and was taken by the channel."""
    return bool(sending.answered and sending.answered.complete and sending.request.kind in kinds)


def error_visible(history: History, forbidden: str) -> Wrong:
    """Every result against the runs before it; every final against the tools before it."""
    wrong: Wrong = set()
    trace = history.trace
    last: list[tuple[ToolResult, Execution, int]] = []
    for ask in trace.asks:
        runs = [e for e in trace.executions if e.ask is ask and e.answered]
        runs = [e for e in runs if e.answered and e.answered.n < ask.sent_n]
        if ask.sent and runs and not ask.sent.is_error:
            last.append((ask.sent, runs[-1], ask.sent_n))
    kept = [(s, r, n) for s, r, n in last if not r.failed and not _is_killed(history, r, n)]
    for sent, run, n in (each for each in last if each[1].failed):
        same = [at for s, r, at in kept if sent.text in (s.text, r.text)]
        known = min(same, default=None) if sent.text else 0
        if known is not None:
            wrong.add(("error_visible.hidden", max(n, known)))
        # A success that comes later takes nothing from what the request showed.
        is_known = known is not None and known <= n
        if not is_known and run.text not in sent.text and not _is_excused(history, run, n):
            wrong.add(("error_visible.reworded", n))
    for turn in trace.turns.values():
        for final in (s for s in turn.endings if claimed(s) == "completed"):
            before = [e for e in turn.executions if e.n < final.n]
            last = {e.request.name: e for e in before}
            if forbidden in final.request.text and any(e.failed for e in last.values()):
                wrong.add(("error_visible.claimed", final.n))
    return wrong


def _is_excused(history: History, run: Execution, sent_n: int) -> bool:
    """Whether a cancel, a refused write or a kill explains other words for the error of a tool."""
    called = run.ask.exchange.called if run.ask else run.called
    turn = history.trace.turns[called.session, called.turn]
    is_refused = any(n < sent_n for n in turn.unstored.values())
    is_cancelled = 0 < turn.cancelled_n < sent_n
    return is_cancelled or is_refused or _is_killed(history, run, sent_n)


def _is_killed(history: History, run: Execution, sent_n: int) -> bool:
    """Whether the agent was killed between the answer of a tool and the result that it sent."""
    ended = run.answered.n if run.answered else 0
    return any(isinstance(e, Killed) and ended < e.n < sent_n for e in history.events)


def no_silent_loss(history: History, attempts: int) -> Wrong:
    """Every refusal against all later writes, rows and words. Told by the first refusal in a row,
    or by the one that is too many."""
    wrong: Wrong = set()
    events = history.events
    writes = [e for e in events if isinstance(e, Called) and isinstance(e.request, StoreRequest)]
    answers = {e.key: e for e in events if isinstance(e, Answered)}
    kills = [e.n for e in events if isinstance(e, Killed)]
    for write in writes:
        same = [w for w in writes if w.request == write.request]
        answer = answers[write.key]
        if answer.outcome == "ok":
            continue
        in_turn = [answers[w.key] for w in same if w.turn == write.turn]
        if _in_a_row(in_turn, answer, kills) == attempts + 1:
            wrong.add(("no_silent_loss.unbounded", answer.n))
        ever = [answers[w.key] for w in same]
        ends = [a.n for a in ever if a.outcome == "ok"] + kills
        first = _in_a_row(ever, answer, kills) == 1 and max([0, *ends]) < answer.n
        if first and _is_lost(history, write, answer.n):
            wrong.add(("no_silent_loss.lost", answer.n))
    return wrong


def _in_a_row(answers: list[Answered], last: Answered, kills: list[int]) -> int:
    """How many refusals there were in a row up to one of them."""
    ends = [0, *kills, *(a.n for a in answers if a.outcome == "ok")]
    return sum(max(n for n in ends if n < last.n) < a.n <= last.n for a in answers)


def _is_lost(history: History, write: Called, refused: int) -> bool:
    trace = history.trace
    assert isinstance(write.request, StoreRequest)
    later = [e for e in history.events if isinstance(e, Stored) and e.n > refused]
    kept = {row.digest for event in later for row in event.added}
    turns = [d.n for d in trace.deliveries if d.n > refused]
    until = turns[1] if len(turns) > 1 else len(history.events)
    told = [s for s in trace.sendings if refused < s.n < until and _tells(s)]
    over = trace.ended is not None and trace.ended.how in ("returned", "crashed")
    return over and not told and any(digest not in kept for digest in write.request.rows)


def _tells(sending: Sending) -> bool:
    bad_final = taken(sending, "final") and claimed(sending) != "completed"
    return bad_final or taken(sending, "error", "notice")
