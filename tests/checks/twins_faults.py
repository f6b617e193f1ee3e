"""Slow twins of the checks of failures: each asks one event at a time, and looks at all others.

A twin gives the rules that are broken, each with the event by which a finding names it: the last
of its events, or for what is lost or begun the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.outcome import claimed
from harness.core.calls import StoreRequest
from harness.core.events import Answered, Called, Effected, Killed, Stored
from harness.core.exchanges import Exchange, Sending
from harness.core.history import History
from harness.core.messages import Message
from harness.core.trace import Turn

Wrong = set[tuple[str, int]]


def _taken(sending: Sending, *kinds: str) -> bool:
    return bool(sending.answered and sending.answered.complete and sending.request.kind in kinds)


def _flat(text: str) -> str:
    return "".join(text.split())


def error_visible(history: History, forbidden: str) -> Wrong:
    """Every result against the runs before it; every final against the tools before it."""
    wrong: Wrong = set()
    trace = history.trace
    for ask in trace.asks:
        runs = [e for e in trace.executions if e.ask is ask and e.answered]
        runs = [e for e in runs if e.answered and e.answered.n < ask.sent_n]
        if ask.sent and runs and runs[-1].failed and not ask.sent.is_error:
            told = "failed" in ask.sent.text or runs[-1].text in ask.sent.text
            wrong |= set() if told else {("error_visible.hidden", ask.sent_n)}
    for turn in trace.turns.values():
        for final in (s for s in turn.endings if claimed(s) == "completed"):
            before = [e for e in turn.executions if e.n < final.n]
            last = {e.request.name: e for e in before}
            if forbidden in final.request.text and any(e.failed for e in last.values()):
                wrong.add(("error_visible.claimed", final.n))
    return wrong


def _is_part(exchange: Exchange) -> bool:
    a = exchange.answered
    told = a is not None and not a.complete and bool(a.blocks)
    return told and a is not None and any("send" in s for s in a.steps) and "kill" not in a.steps


def stream_error_handled(history: History) -> Wrong:
    """Every part of an answer against all that was run, stored and said after it."""
    wrong: Wrong = set()
    for run in history.trace.executions:
        if run.ask and _is_part(run.ask.exchange):
            wrong.add(("stream_error_handled.executed", run.n))
    for turn in history.trace.turns.values():
        for exchange in turn.main:
            later = [e for e in turn.main if e.n > exchange.n]
            if exchange.succeeded:
                wrong |= set(_garbled(turn, exchange, later))
            elif _is_part(exchange) and not turn.cancelled_n:
                wrong |= set(_stored(history, turn, exchange, later))
                if not turn.interrupted_n:
                    wrong |= set(_said(turn, exchange, later))
    return wrong


def _garbled(turn: Turn, exchange: Exchange, later: list[Exchange]) -> Iterator[tuple[str, int]]:
    said = exchange.reply.text if exchange.reply else ""
    for s in turn.endings:
        last = s.n > exchange.n and not any(e.n < s.n for e in later)
        if last and "\ufffd" in s.request.text and "\ufffd" not in said and not said.isascii():
            yield "stream_error_handled.chunks", s.n


def _stored(
    history: History, turn: Turn, exchange: Exchange, later: list[Exchange]
) -> Iterator[tuple[str, int]]:
    until = turn.settled_n
    if later:
        until = later[0].answered.n if later[0].answered else 0
    begun = exchange.answered.n if exchange.answered else 0
    rows: list[tuple[int, Message]] = []
    for event in history.events:
        if isinstance(event, Stored) and begun <= event.n <= until:
            rows += [(event.n, history.messages[row.digest]) for row in event.added]
    said = _flat(exchange.reply.text) if exchange.reply else ""
    earlier = {_flat(e.reply.text) for e in turn.main if e.succeeded and e.reply}
    earlier = {t for t in earlier if any(e.n < exchange.n and _has(e, t) for e in turn.main)}
    parts = [n for n, m in rows if _part_of(m, said) and _flat(m.text) not in earlier]
    marks = [n for n, m in rows if m.text.strip() and not _part_of(m, said)]
    if parts and not marks:
        yield "stream_error_handled.stored", parts[0]


def _has(exchange: Exchange, text: str) -> bool:
    return exchange.succeeded and exchange.reply is not None and _flat(exchange.reply.text) == text


def _part_of(message: Message, said: str) -> bool:
    text = _flat(message.text)
    return message.role == "assistant" and text != "" and said[: len(text)] == text


def _said(turn: Turn, exchange: Exchange, later: list[Exchange]) -> Iterator[tuple[str, int]]:
    told = [s for s in turn.sendings if s.n > exchange.n and _taken(s, "final", "error", "notice")]
    told = [s for s in told if not any(e.n < s.n for e in later)]
    if not told and not later and turn.settled_by in ("next", "returned", "crashed"):
        yield "stream_error_handled.silent", turn.settled_n
    whole = _flat(exchange.reply.text) if exchange.reply else ""
    for s in told:
        text = _flat(s.request.text)
        good = s.request.kind == "final" and claimed(s) == "completed"
        if good and text and whole[: len(text)] == text:
            yield "stream_error_handled.passed_off", s.n


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
    bad_final = _taken(sending, "final") and claimed(sending) != "completed"
    return bad_final or _taken(sending, "error", "notice")


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
        said = [s for s in trace.sendings if _taken(s, "final", "error", "notice")]
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
