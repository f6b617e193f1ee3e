"""Whether what is stored is what was lived: nothing lost, changed, doubled; and stored in time."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.reloaded import forgotten
from harness.checks.rewritten import doubled, replaced
from harness.checks.rows import finished_turns, inbound_rows, is_user_text, reply_rows
from harness.core.history.history import History
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.verdict import Finding


@needs("store", "inbox", "outbox")
def reload_equivalence(history: History) -> Iterator[Finding]:
    """The stored rows are the live messages: each once, unchanged, in order.

    `lost_inbound`, `lost_reply`: a finished turn does not store its inbound message or the reply
    that was delivered. `order`: the reply stands before it. `blank`: a message without text is
    stored, which no later request can carry. `duplicate`: a row again. `gone`, `changed`: rows
    vanish or say something else without a compaction; an answer may grow. `forgotten`: the first
    request after a start lacks what was said last, though the store holds it. Source: invariant 27.
    """
    trace = history.trace
    yield from replaced(trace)
    yield from doubled(trace)
    yield from forgotten(trace)
    for turn in finished_turns(trace):
        yield from _lost(trace, turn)
    yield from _blanks(trace)


def _blanks(trace: Trace) -> Iterator[Finding]:
    """Rows that keep an inbound message without text."""
    for turn in trace.turns.values():
        if turn.delivery is None or turn.text.strip() or turn.delivery.inbound.kind != "message":
            continue
        for event, row, message in trace.rows_added(turn):
            if event.n < turn.opened_n:
                continue  # an earlier delivery of the message, which said something else
            named = row.inbound == turn.delivery.inbound.id
            if named or (is_user_text(message) and not message.text.strip()):
                text = f"turn {turn.number} of {turn.session}: its message is blank, and is stored"
                yield Finding("reload_equivalence.blank", text, (turn.opened_n, event.n))


def _lost(trace: Trace, turn: Turn) -> Iterator[Finding]:
    where = f"turn {turn.number} of {turn.session}"
    inbound = inbound_rows(trace, turn)
    if not inbound:
        text = f"{where}: the inbound message is not stored"
        yield Finding("reload_equivalence.lost_inbound", text, (turn.opened_n, turn.settled_n))
    for ending in turn.endings:
        if not ending.request.text.strip():
            continue
        replies = reply_rows(trace, turn, ending.request.text)
        if not replies and ending.request.kind == "final":
            text = f"{where}: the reply was delivered and is not stored"
            yield Finding("reload_equivalence.lost_reply", text, (ending.n, turn.settled_n))
        elif replies and inbound and replies[-1].place < inbound[0].place:
            text = f"{where}: the reply is stored before the message that it answers"
            yield Finding("reload_equivalence.order", text, (replies[-1].n, inbound[0].n))
