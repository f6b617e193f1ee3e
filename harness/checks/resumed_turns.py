"""What a start after a kill sends to the model again: finished work, alike at each start.

Only this file compares requests across a kill. Between two starts nothing else may change what was
stored, so a difference is the agent's. Effects are left to `history_faithful`, which asks for them
before the model has read their results, too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from harness.checks.evidence.carried_words import holds_more
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    COMPACTION_BETWEEN,
    FAILED_STORE,
    OVERFLOW_BETWEEN,
    REWRITTEN_STORE,
    Case,
)
from harness.checks.evidence.stored_messages import says, squeeze
from harness.checks.evidence.turn_outcomes import claimed
from harness.core.history.events import Effected
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.messages import side
from harness.core.values.verdict import Cause, Finding

_STORED_ANEW = (FAILED_STORE, REWRITTEN_STORE, COMPACTION_BETWEEN, OVERFLOW_BETWEEN)

_NEWEST = 50
"""How many requests before a kill are read: each repeats the session, and a session may be long."""


@needs("model", "inbox", told_by="run", place=372)
@excused_by(forgotten=_STORED_ANEW, differs=_STORED_ANEW)
def resume_prefix(history: History) -> Iterator[Finding | Case]:
    """A start after a kill goes on from the work that was finished, and each start from the same.

    `forgotten`: the first request of the resumed turn lacks a result that the model had read before
    the kill; or earlier turns are there as words alone, and results as old were sent before.
    `differs`: two starts tell the same results in another order or with other words; or a start
    tells a success as a failure.

    Not a finding: a call with an effect, which `history_faithful` asks; a result that the model had
    not read; a note in place of the whole turn; another id; a result that is shorter at the second
    start, as an agent may clip old ones.

    To fix it, store each result before the model reads it, with its place among the others. Build
    the first request of a resumed turn from the rows alone. Source: the Resume Contract
    (arXiv 2608.03836), prefix continuation and recovery determinism.
    """
    trace = history.trace
    if not trace.kills:
        return
    changed = {event.key for event in trace.events if isinstance(event, Effected)}
    begun = _first_after_a_kill(trace)
    for turn, first in begun:
        yield from _forgotten(trace, turn, first, changed)
        if told := _told_before(trace, first):
            yield from _words_alone(trace, turn, first, told)
            yield from _failed_since(turn, first, told[-1])
    sessions: dict[tuple[str, str], list[tuple[Turn, Exchange]]] = {}
    for turn, first in begun:
        sessions.setdefault((turn.session, first.called.provider), []).append((turn, first))
    for starts in sessions.values():
        for (_, before), (turn, after) in pairwise(starts):
            yield from _differs(turn, before, after)


def _first_after_a_kill(trace: Trace) -> list[tuple[Turn, Exchange]]:
    """The first main request of each session after each kill, with its turn, in order."""
    found: dict[tuple[str, int], tuple[Turn, Exchange]] = {}
    for exchange in trace.exchanges:
        life = bisect_left(trace.kills, exchange.n)
        if not life or exchange.purpose != "main":
            continue
        turn = trace.turns[exchange.called.session, exchange.called.turn]
        found.setdefault((turn.session, life), (turn, exchange))
    readable = (one for one in found.values() if not (one[1].request.unread or _is_stateful(one)))
    return sorted(readable, key=lambda one: one[1].n)


def _is_stateful(one: tuple[Turn, Exchange]) -> bool:
    return bool(one[1].request.stateful)


def _told_before(trace: Trace, first: Exchange) -> list[Exchange]:
    """The last main requests of the session before the kill."""
    killed_n = trace.kills[bisect_left(trace.kills, first.n) - 1]
    main = (e for e in trace.exchanges if e.n < killed_n and e.purpose == "main")
    own = [e for e in main if e.called.session == first.called.session]
    return [e for e in own if not (e.request.unread or e.request.stateful)][-_NEWEST:]


def _forgotten(
    trace: Trace, turn: Turn, first: Exchange, changed: set[str]
) -> Iterator[Finding | Case]:
    """Yield the first result that the model had read in the turn, and that the request lacks."""
    killed_n = trace.kills[bisect_left(trace.kills, first.n) - 1]
    asks = [a for each in (turn, *turn.earlier) for a in each.asks if a.exchange.n < killed_n]
    keeps_any = any(_holds(first, ask) for ask in asks)
    for ask in asks:
        run = ask.execution
        is_read = run is not None and 0 < ask.sent_n < killed_n
        if run is None or not is_read or run.called.key in changed or _holds(first, ask):
            continue
        if not keeps_any and holds_more(trace, ask.exchange, first):
            return  # a note stands for the whole turn
        text = f"{first.called.key}: after the kill the result of {run.called.key} is missing, "
        text += "which the model had read"
        finding = Finding("resume_prefix.forgotten", text, (ask.sent_n, killed_n, first.n))
        yield Case("forgotten", [finding], turn, first.n, ask.sent_n)
        return


def _holds(first: Exchange, ask: Ask, in_replies: bool = True) -> bool:
    """Whether a request has a result of the call, by its id or its words; a reply may repeat
    these by chance."""
    messages = first.node.messages
    results = [result for message in messages for result in message.tool_results]
    if any(result.id == ask.use.id for result in results):
        return True
    said = squeeze(ask.sent.text) if ask.sent else ""
    told = [m.text for m in messages if side(m) != "assistant"] + [r.text for r in results]
    return bool(said) and any(said in squeeze(t) for t in (first.texts if in_replies else told))


def _words_alone(trace: Trace, turn: Turn, first: Exchange, told: list[Exchange]) -> Iterator[Case]:
    """Yield the earlier turns that come back without a result, though with their replies.

    An agent may leave out the results of old turns: then it does so without a kill, too. So a
    result counts if some request before the kill had one that was as old.
    """
    turns = [t for t in trace.turns.values() if t.session == turn.session]
    asks = {ask.use.id: (each, ask) for each in turns for ask in each.asks if ask.execution}
    ages = [
        _number(trace.turns[e.called.session, e.called.turn]) - _number(asks[id][0])
        for e in told
        for id in _results(e)
        if id in asks
    ]
    held, oldest = [asks[id] for id in _results(told[-1]) if id in asks], max(ages, default=0)
    past = [(each, ask) for each, ask in held if 0 < _number(turn) - _number(each) <= oldest]
    if not past or any(_holds(first, ask, in_replies=False) for _, ask in past):
        return
    each, ask = past[-1]
    if any(says(first.node, s.request.text) for s in each.endings if claimed(s) == "completed"):
        text = f"{first.called.key}: after the kill {each.words} is there as its words alone, and "
        text += f"the result of {ask.use.name} is missing, which {told[-1].called.key} had"
        events = (ask.sent_n, told[-1].n, first.n)
        finding = Finding("resume_prefix.forgotten", text, events, cause=Cause(tool=ask.use.name))
        yield Case("forgotten", [finding], turn, first.n, told[-1].n)


def _number(turn: Turn) -> int:
    """The number of the turn in which its message came first."""
    return min((each.number for each in turn.earlier), default=turn.number)


def _failed_since(turn: Turn, first: Exchange, before: Exchange) -> Iterator[Case]:
    """Yield a result that was a success before the kill, and is told as failed after it."""
    old = {r.id: r for m in before.node.messages for r in m.tool_results}
    for result in (r for m in first.node.messages for r in m.tool_results):
        was = old.get(result.id)
        if was is None or was.is_error or not result.is_error or _is_within(was.text, result.text):
            continue
        text = f"{first.called.key}: after the kill the result {result.id} is told as failed, and "
        text += f"{before.called.key} had it as a success"
        finding = Finding("resume_prefix.differs", text, (before.n, first.n))
        yield Case("differs", [finding], turn, first.n, before.n)
        return


def _is_within(old: str, new: str) -> bool:
    return squeeze(old) in squeeze(new)


def _differs(turn: Turn, before: Exchange, after: Exchange) -> Iterator[Case]:
    """Yield the results that two starts tell in another order, or with other words."""
    old, new = _results(before), _results(after)
    shared = [id for id in old if id in new]
    if shared != [id for id in new if id in old]:
        how = "in another order"
    elif other := next((id for id in shared if not _is_same(old[id], new[id])), None):
        how = f"with other words (the result {other})"
    else:
        return
    text = f"{after.called.key}: the start tells stored results {how} than the start before"
    finding = Finding("resume_prefix.differs", text, (before.n, after.n))
    yield Case("differs", [finding], turn, after.n, before.n)


def _is_same(old: str, new: str) -> bool:
    return old == new or len(new) < len(old)


def _results(exchange: Exchange) -> dict[str, str]:
    """The words of each result by its id, in order; an id that comes twice names none."""
    found = [(r.id, squeeze(r.text)) for m in exchange.node.messages for r in m.tool_results]
    ids = [id for id, _ in found]
    return {id: text for id, text in found if id and ids.count(id) == 1}
