"""Whether what goes to the model is valid: the dialect's rules, and alternation, our own law.

The rules of a dialect are applied where the request is read; the ids of those it breaks stand in
the event, and `valid_request` reports them. Alternation is asked of every dialect, for a list that
a lenient provider merges is refused by the next one; and so is a beginning that stays the same.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise

from harness.checks.rows import finished_turns, is_user_text, written_by_another
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.message_tree import Node
from harness.core.history.trace import Trace, Turn
from harness.core.transition.ports import needs
from harness.core.values.messages import side
from harness.core.values.verdict import Finding

WINDOW_RULES = frozenset({"V23", "V24"})
"""A prompt over the window is met by being told so; sending it is no invalid request."""

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


@needs("model", "inbox")
def append_only_prefix(history: History) -> Iterator[Finding]:
    """A session's main requests begin alike: each adds to the end of the one before.

    `messages`: the next one does not begin with what stood before the newest message of a request,
    which alone may still grow (a pause, a hint that is said once). `system`: the system text is
    another one. Every such change makes the provider read the conversation anew, and breaks signed
    thinking. A compaction excuses it, and so does a request that failed for good, a start of the
    agent or a row of another process between them. A turn may go back to what the one before held
    since its last compaction, when a request of that one failed for good. Source: invariant 8.
    """
    trace = history.trace
    breaks = sorted([c.n for c in trace.compactions] + [s.n for s in trace.starts])
    others = written_by_another(trace)
    last: dict[str, Exchange] = {}
    for exchange in trace.exchanges:
        if exchange.purpose != "main":
            continue
        before = last.get(exchange.called.session)
        last[exchange.called.session] = exchange
        if before is None or bisect(breaks, before.n) != bisect(breaks, exchange.n):
            continue
        if any(_reloaded_since(trace, before, exchange) < n < exchange.n for n in others):
            continue
        if _is_gone_on_from(before) and not _goes_back(trace, before, exchange):
            yield from _begins_alike(before, exchange)


def _reloaded_since(trace: Trace, before: Exchange, exchange: Exchange) -> int:
    """The event from which on rows of others come into view with this request: a new turn begins
    with what is stored, and shows what was added to it since the one before began."""
    called = before.called
    turn = trace.turns.get((called.session, called.turn))
    same = called.turn == exchange.called.turn
    return before.n if same or turn is None else turn.begun_n or turn.opened_n


def _is_gone_on_from(exchange: Exchange) -> bool:
    """Whether the next request goes on from here: not after "too long", in whatever shape.

    An error event in a stream has status 200 and no type in the history, so it may be one.
    """
    if exchange.succeeded:
        return exchange.stop != "model_context_window_exceeded" and not is_uncounted(exchange)
    return exchange.transient and exchange.status != 200


def is_uncounted(exchange: Exchange) -> bool:
    """Whether no token was counted, and so no model has said it but a wrapper around one."""
    usage = exchange.answered.usage if exchange.answered else {}
    return bool(usage) and not any(usage.values())


def _goes_back(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether a turn begins with the stored history again, after one that got by with a part.

    What is stored is what a request of that turn held, since its last compaction that helped.
    """
    called, now = before.called, exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or called.turn == now.turn or all(map(_is_gone_on_from, turn.main)):
        return False
    helped = max((c.n for c in trace.compactions if c.turn is turn and not c.failed), default=0)
    held = (e.node for e in turn.main if e.n > helped)
    return any(stands(settled_list(node), exchange.node) for node in held)


def _begins_alike(before: Exchange, exchange: Exchange) -> Iterator[Finding]:
    events, both = (before.n, exchange.n), f"{before.called.key} and {exchange.called.key}"
    if before.request.system != exchange.request.system:
        text = f"{both} have different system texts"
        yield Finding("append_only_prefix.system", text, events)
    settled = settled_list(before.node)
    if not stands(settled, exchange.node):
        text = f"{both} begin differently: {_first_difference(settled, exchange.node)}"
        yield Finding("append_only_prefix.messages", text, events)


def settled_list(node: Node) -> Node:
    """What stood before the newest message."""
    last_side = node.side
    while node.parent is not None and node.side in (last_side, "system"):
        node = node.parent
    return node


def stands(settled: Node, node: Node) -> bool:
    """Whether a list begins as it was; a paused answer may have got its end meanwhile."""
    now = node.first(settled.depth)
    if now is settled:
        return True
    old, new = settled.message.blocks, now.message.blocks
    return now.parent is settled.parent and now.side == settled.side and new[: len(old)] == old


def _first_difference(settled: Node, now: Node) -> str:
    for old, new in zip(settled.tail(), now.tail(), strict=False):
        if old is not new:
            return f"message {old.depth - 1} ({old.side}) is another one"
    return f"there were {settled.depth} messages before the newest, and {now.depth} are left"


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
