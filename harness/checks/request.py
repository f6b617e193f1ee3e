"""Whether what goes to the model is valid: the dialect's rules, and alternation, our own law.

The rules of a dialect are applied where the request is read; the ids of those it breaks stand in
the event, and `valid_request` reports them. Alternation is asked of every dialect, for a list that
a lenient provider merges is refused by the next one; and so is a beginning that stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from harness.checks.evidence.answers import WINDOW_RULES
from harness.checks.rows import finished_turns, is_user_text
from harness.core.history.history import History
from harness.core.history.message_tree import Node
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.messages import side
from harness.core.values.verdict import Finding

SPIRAL = 5
"""So many messages of the user in a row, each of which had a reply, were seen in the incident."""

_ALTERNATING = frozenset({"user", "assistant"})


@needs("model")
def valid_request(history: History) -> Iterator[Finding]:
    """Every request is one that the dialect accepts; the rule's id is the finding's.

    A rule is reported once a turn. A prompt over the window (V23, V24) is not reported here.
    Source: invariants 1 to 6.
    """
    seen: set[tuple[str, int, str]] = set()
    for exchange in history.trace.exchanges:
        called = exchange.called
        for rule in called.refused:
            case = (called.session, called.turn, rule)
            if rule not in WINDOW_RULES and case not in seen:
                seen.add(case)
                text = f"{called.key} breaks the dialect's rule {rule}"
                yield Finding(f"valid_request.{rule}", text, (called.n,))


@needs("model")
def role_alternation(history: History, *, wire: bool = True) -> Iterator[Finding]:
    """Neighbours in a request are never of one side, and a finished turn stores one of each.

    Tool results count as the user's; OpenAI `tool` rows are a side of their own, of which several
    may follow each other. `wire: false` leaves out the requests. The stored rows of a finished
    turn begin with its inbound message, alternate, and end with a reply; an answer that the
    provider paused may go on in the next row. `spiral`: the fingerprint of replies that never
    reach the history, five messages of the user in a row without an answer; the next answer is to
    all of them once more.
    """
    trace = history.trace
    if wire:
        yield from _on_the_wire(trace)
    if {"store", "inbox", "outbox"} <= trace.seams:
        for turn in finished_turns(trace):
            yield from _in_the_store(trace, turn)


def _on_the_wire(trace: Trace) -> Iterator[Finding]:
    seen: set[int] = set()
    for exchange in trace.exchanges:
        if exchange.purpose == "aux":
            continue
        for node in exchange.added:
            if id(node) not in seen and _same_side(node):
                text = f"{exchange.called.key}: two {node.side} messages in a row"
                text += f" (message {node.depth - 1})"
                yield Finding("role_alternation.wire", text, (exchange.n,))
                if _unanswered(node) == SPIRAL:
                    text = f"{exchange.called.key}: {SPIRAL} messages of the user in a row, none "
                    text += "of them answered: replies are lost, and old questions asked again"
                    yield Finding("role_alternation.spiral", text, (exchange.n,))
            seen.add(id(node))


def _unanswered(node: Node | None) -> int:
    """How many messages of the user's own end a list, with no answer between them."""
    count = 0
    while node is not None and node.depth and node.side in ("user", "system"):
        count += is_user_text(node.message)
        node = node.parent
    return count


def _same_side(node: Node) -> bool:
    before = node.parent
    while before is not None and before.depth and before.side == "system":
        before = before.parent
    if before is None or not before.depth:
        return False
    return node.side in _ALTERNATING and node.side == before.side


def _in_the_store(trace: Trace, turn: Turn) -> Iterator[Finding]:
    """The law for a turn's rows; a turn whose rows were replaced (compaction), or whose files a
    fault has damaged, is left alone."""
    if any(event.gone or event.n in trace.damages for event in trace.stored_during(turn)):
        return
    rows = list(trace.rows_added(turn))
    sides = [side(message) for _, _, message in rows if side(message) != "system"]
    where = f"turn {turn.number} of {turn.session}"
    events = (turn.opened_n, *(event.n for event, _, _ in rows), turn.settled_n)
    goes_on = any(exchange.stop == "pause_turn" for exchange in turn.exchanges)
    for a, b in pairwise(sides):
        if a == b and a in _ALTERNATING and not (goes_on and a == "assistant"):
            text = f"{where} stores two {a} messages in a row"
            yield Finding("role_alternation.store", text, events)
            return
    if sides[:1] != ["user"] or sides[-1:] != ["assistant"]:
        text = f"{where} must store its inbound message first and its reply last, stores: "
        yield Finding("role_alternation.store", text + (", ".join(sides) or "nothing"), events)
