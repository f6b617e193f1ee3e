"""Whether the agent remembers: what was said and done stands in the requests that follow.

Amnesia is silent: roles alternate, every request is valid, and the answers are to somebody who has
just arrived. Only a compaction, or a request that was over the window, may take something away.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.outcome import claimed
from harness.checks.request import WINDOW_RULES
from harness.checks.rows import says, squeeze
from harness.core.history.exchanges import Ask, Exchange, Execution
from harness.core.history.history import History
from harness.core.history.message_tree import Node
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding

NEVER = 1 << 62
BEGINNING = 20
"""So many characters of an answer stand in its result, even if an agent cuts it short."""


@needs("model", "inbox", "outbox")
def history_faithful(history: History) -> Iterator[Finding]:
    """A turn's requests hold the reply of the turn before and the results of the calls that ran.

    `forgotten_reply`: the first main request of a turn lacks what the user was last told.
    `forgotten_result`: a main request lacks the result of a call that ran before it in the turn.
    `swapped_result`: a call's result does not begin as its tool answered, and holds what another
    call of the turn was answered.
    After a compaction, a request over the window or a kill nothing of this is asked in that
    session. `forgotten_past`: after a turn whose compactions brought no summary, the next one
    begins without anything that the agent said before. Source: invariant 9.
    """
    trace = history.trace
    excused = _excuses(trace)
    last: dict[str, Turn] = {}
    for turn in trace.turns.values():
        if turn.delivery is None or turn.redelivery:
            continue
        before = last.get(turn.session)
        until = excused.get(turn.session, NEVER)
        if turn.main and before is not None and turn.main[0].n < until:
            yield from _reply(before, turn)
        if turn.main and before is not None and before.main:
            yield from _past(trace, before, turn)
        yield from _results(turn, until)
        last[turn.session] = turn


def _reply(before: Turn, turn: Turn) -> Iterator[Finding]:
    told = [s for s in before.endings if s.request.kind == "final" and s.request.text.strip()]
    if not told or claimed(told[-1]) != "completed" or before.store_failed:
        return
    first = turn.main[0]
    if not says(first.node, told[-1].request.text):
        text = f"{first.called.key}: the reply of turn {before.number} of {turn.session} is missing"
        yield Finding("history_faithful.forgotten_reply", text, (told[-1].n, first.n))


def _past(trace: Trace, before: Turn, turn: Turn) -> Iterator[Finding]:
    failed = [c for c in trace.compactions if c.turn is before]
    if not failed or not all(c.failed for c in failed) or turn.interrupted_n:
        return
    past = _told(before.main[0].node)
    if past and not past & _told(turn.main[0].node):
        text = f"{turn.main[0].called.key}: a compaction failed in the turn before, and what was "
        text += "said before that is gone"
        events = (before.main[0].n, failed[0].n, turn.main[0].n)
        yield Finding("history_faithful.forgotten_past", text, events)


def _told(node: Node) -> set[str]:
    """What the assistant says in a list."""
    return {m.text for m in node.messages if m.role == "assistant" and m.text.strip()}


def _results(turn: Turn, until: int) -> Iterator[Finding]:
    main = turn.main
    for ask in turn.asks:
        run = ask.execution
        if run is None or run.answered is None:
            continue
        ended_n = run.answered.n
        later = next((e for e in main if e.n > ended_n), None)
        if later is None or later.n >= until:
            continue
        if ask.sent is None or ask.sent_n > later.n:
            text = f"{later.called.key}: the result of {run.called.key} is missing"
            yield Finding("history_faithful.forgotten_result", text, (run.n, later.n))
        elif other := _swapped_with(turn, ask, run):
            text = f"{later.called.key}: {run.called.key} is given the result of {other.called.key}"
            yield Finding("history_faithful.swapped_result", text, (run.n, other.n, ask.sent_n))


def _swapped_with(turn: Turn, ask: Ask, run: Execution) -> Execution | None:
    """The other execution whose answer was sent as the result of a call.

    What is sent begins with that answer and is an error as it was: an agent's own words, as of an
    answer that came too late, may hold a short answer by chance.
    """
    own, sent = squeeze(run.text), squeeze(ask.sent.text if ask.sent else "")
    if ask.sent is None or not own or own[:BEGINNING] in sent:
        return None
    for other in turn.executions:
        if other is run or not other.answered or other.n >= ask.sent_n:
            continue
        said = squeeze(other.text)
        if said and other.failed == ask.sent.is_error and sent.startswith(said):
            return other
    return None


def _excuses(trace: Trace) -> dict[str, int]:
    """The first event of each session after which its requests may hold less."""
    found: dict[str, int] = {}
    events = [(c.turn.session, c.n) for c in trace.compactions]
    events += [(s, t.interrupted_n) for (s, _), t in trace.turns.items() if t.interrupted_n]
    events += [(e.called.session, e.n + 1) for e in trace.exchanges if _over_window(e)]
    for session, n in events:
        found[session] = min(n, found.get(session, NEVER))
    return found


def _over_window(exchange: Exchange) -> bool:
    return bool(WINDOW_RULES.intersection(exchange.called.refused)) or exchange.status == 413
