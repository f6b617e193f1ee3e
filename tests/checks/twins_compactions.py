"""A slow twin of the check of compactions: it rebuilds each request's messages."""

from __future__ import annotations

from harness.core.history.events import Answered, Called
from harness.core.history.history import History
from harness.core.values.calls import ModelRequest
from harness.core.values.messages import Message, canonical

Found = set[tuple[str, int]]


def preserves(history: History) -> Found:
    """The rules that are broken, with the event that shows it."""
    calls = [e for e in history.events if isinstance(e, Called) and e.seam == "model"]
    found = Found()
    for place, call in enumerate(calls):
        mains = [c for c in calls[:place] if c.purpose == "main" and c.session == call.session]
        is_long = not mains or call.tokens * 2 > mains[-1].tokens
        if call.purpose == "compact" and "V23" in call.refused and is_long:
            found.add(("too_large", call.n))
    for place, after in enumerate(calls):
        if after.purpose != "main" or not place or calls[place - 1].purpose != "compact":
            continue
        compact = calls[place - 1]
        if (compact.session, compact.turn) == (after.session, after.turn):
            found |= _lost(history, [c for c in calls if c.n < compact.n], compact, after)
    return found


def _lost(history: History, before: list[Called], compact: Called, after: Called) -> Found:
    said, told = _messages(history, after), Found()
    turn = history.trace.turns[after.session, after.turn]
    asked = "".join(turn.text.split())[:40]
    if asked and all(asked not in "".join(m.text.split()) for m in said if m.role == "user"):
        told.add(("last_message", after.n))
    for ask in turn.asks:
        sent = [c for c in before if c.n > ask.exchange.n and _answers(history, c, ask.use.id)]
        kept = [u for m in said for u in m.tool_uses]
        same = [u for u in kept if u.id == ask.use.id or _same(u, ask.use)]
        if ask.exchange.n < compact.n and not sent and not same:
            told.add(("open_call", after.n))
    mains = [c for c in before if c.purpose == "main"]
    if mains and _failed(history, compact) and _answer(history, mains[-1]).status == 200:
        old = _messages(history, mains[-1])
        newest = old[-1].role
        while old and old[-1].role == newest:
            old.pop()
        told |= {("failed", after.n)} if said[: len(old)] != old else set()
    return told


def _same(one: object, other: object) -> bool:
    pair = [(u.name, canonical(u.input)) for u in (one, other)]  # type: ignore[attr-defined]
    return pair[0] == pair[1]


def _answer(history: History, call: Called) -> Answered:
    return next(e for e in history.events if isinstance(e, Answered) and e.key == call.key)


def _failed(history: History, call: Called) -> bool:
    answer = _answer(history, call)
    said = history.messages.get(answer.blocks)
    return answer.status != 200 or said is None or not said.text.strip()


def _answers(history: History, call: Called, id_: str) -> bool:
    return any(r.id == id_ for m in _messages(history, call) for r in m.tool_results)


def _messages(history: History, call: Called) -> list[Message]:
    request = call.request
    assert isinstance(request, ModelRequest)
    kept: list[Message] = []
    for earlier in history.events:
        if isinstance(earlier, Called) and earlier.key == request.after:
            kept = _messages(history, earlier)[: request.keep]
    return kept + [history.messages[name] for name in request.messages]
