"""The slow twin of stream_error_handled: every part of an answer against all that follows it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.events import Stored
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Turn
from harness.core.values.messages import Message
from harness.core.values.plans import Kill, Sent
from tests.checks.twins_faults import Wrong, taken


def _flat(text: str) -> str:
    return "".join(text.split())


def _is_part(exchange: Exchange) -> bool:
    a = exchange.answered
    kinds = set(map(type, a.steps)) if a else set()
    told = a is not None and not a.complete and bool(a.blocks)
    return told and a is not None and Sent in kinds and Kill not in kinds


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
                killed_n = turn.interrupted_n
                # A kill explains a silence until a reply of the turn has been delivered.
                if not killed_n or any(s.n > killed_n for s in turn.endings):
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
    # No step of the worlds says in a result that the call had broken off.
    calls = {use.id for use in exchange.reply.tool_uses} if exchange.reply else set()
    if told := [n for n, m in rows if calls & {result.id for result in m.tool_results}]:
        yield "stream_error_handled.stored", told[0]


def _has(exchange: Exchange, text: str) -> bool:
    return exchange.succeeded and exchange.reply is not None and _flat(exchange.reply.text) == text


def _part_of(message: Message, said: str) -> bool:
    text = _flat(message.text)
    return message.role == "assistant" and text != "" and said[: len(text)] == text


def _said(turn: Turn, exchange: Exchange, later: list[Exchange]) -> Iterator[tuple[str, int]]:
    told = [s for s in turn.sendings if s.n > exchange.n and taken(s, "final", "error", "notice")]
    told = [s for s in told if not any(e.n < s.n for e in later)]
    if not told and not later and turn.settled_by in ("next", "returned", "crashed"):
        yield "stream_error_handled.silent", turn.settled_n
    whole = _flat(exchange.reply.text) if exchange.reply else ""
    for s in told:
        text = _flat(s.request.text)
        good = s.request.kind == "final" and claimed(s) == "completed"
        if good and text and whole[: len(text)] == text:
            yield "stream_error_handled.passed_off", s.n
