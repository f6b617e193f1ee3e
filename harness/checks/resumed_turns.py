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
from harness.checks.evidence.stored_messages import squeeze
from harness.core.history.events import Effected
from harness.core.history.exchanges import Ask, Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.values.verdict import Finding

_STORED_ANEW = (FAILED_STORE, REWRITTEN_STORE, COMPACTION_BETWEEN, OVERFLOW_BETWEEN)


@needs("model", "inbox", told_by="run", place=372)
@excused_by(forgotten=_STORED_ANEW, differs=_STORED_ANEW)
def resume_prefix(history: History) -> Iterator[Finding | Case]:
    """A start after a kill goes on from the work that was finished, and each start from the same.

    `forgotten`: the model had read the result of a call before the kill, and the first request of
    the resumed turn lacks it. `differs`: the first requests after two starts hold the same results
    in another order, or one of them with other words.

    Not a finding: a call with an effect, which `history_faithful` asks; a result that the model had
    not read; a note of the agent in place of the whole turn; the same result under another id; a
    result that is shorter at the second start, as an agent may clip old ones.

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


def _holds(first: Exchange, ask: Ask) -> bool:
    """Whether a request has a result of the call, by its id or its words."""
    results = [result for message in first.node.messages for result in message.tool_results]
    if any(result.id == ask.use.id for result in results):
        return True
    said = squeeze(ask.sent.text) if ask.sent else ""
    return bool(said) and any(said in squeeze(text) for text in first.texts)


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
