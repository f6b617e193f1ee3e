"""A request begins as the one before: what a provider has cached, and what thinking is signed over.

A change at the beginning is valid, and is seen only on the bill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from harness.checks.evidence.carried_words import (
    changed_to,
    first_difference,
    has_no_memory,
    system_text,
    thinned,
)
from harness.checks.evidence.declarations import excused_by, needs
from harness.checks.evidence.excuses import (
    BREAK_BETWEEN,
    Case,
)
from harness.checks.evidence.stored_messages import (
    settled_list,
    stands,
    written_by_another,
)
from harness.checks.evidence.turn_outcomes import claimed, is_uncounted
from harness.core.history.event_log import Named
from harness.core.history.exchanges import Exchange
from harness.core.history.history import History
from harness.core.history.trace import Trace
from harness.core.values.messages import Json, Message, Text, Thinking, ToolUse
from harness.core.values.verdict import Finding


@needs("model", "inbox", told_by="run", place=70)
@excused_by(prefix=(BREAK_BETWEEN,))
def append_only_prefix(history: History) -> Iterator[Finding | Case]:
    """Each main request of a session to a provider begins as the one before, and only adds to it.

    `messages`: the next request does not begin with the messages before the newest one. Only the
    newest message may still grow (a pause, a hint that is given once). `system`: the system text
    changes. `tools`: the same tools are in another order. Every such change makes the provider read
    the conversation again, and breaks signed thinking.

    A compaction excuses a change. Between the two requests, these excuse it too: a permanent
    failure, a start of the agent, or a row of another process. A turn may return to the messages of
    the turn before since its last compaction, if a request of that turn failed permanently. It may
    return to the messages before that turn, if that turn had no success. Not a finding: a tool that
    is added, removed or described in other words; signed thought that another model does not get;
    an unreadable request. Source: invariant 8.
    """
    trace = history.trace
    others = written_by_another(trace)
    last: dict[tuple[str, str], Exchange] = {}
    for exchange in trace.exchanges:
        if exchange.purpose != "main" or exchange.request.unread:
            continue
        # Each API writes the conversation in its own form, and each provider caches its own.
        place = exchange.called.session, exchange.called.provider
        before = last.get(place)
        last[place] = exchange
        if before is None or _begins_alike(trace, before, exchange):
            continue
        if before.called.turn != exchange.called.turn and has_no_memory(trace, exchange):
            continue
        # Rows of other processes count from the event at which this request read them. Only this
        # check has that rule.
        if any(_reloaded_since(trace, before, exchange) < n < exchange.n for n in others):
            continue
        turn = trace.turns[exchange.called.session, exchange.called.turn]
        found = _differences(history, before, exchange)
        yield Case("prefix", found, turn, exchange.n, before.n)


def _reloaded_since(trace: Trace, before: Exchange, exchange: Exchange) -> int:
    """Return the event from which rows of other processes may appear in this request. A new turn
    reads the store, so it shows rows added since the turn before began."""
    called = before.called
    turn = trace.turns.get((called.session, called.turn))
    same = called.turn == exchange.called.turn
    return before.n if same or turn is None else turn.begun_n or turn.opened_n


def _is_gone_on_from(exchange: Exchange) -> bool:
    """Whether the next request continues from this one; False after "too long" in any form.

    An error event in a stream has status 200 and no type in the history, so it may mean "too long".
    """
    if exchange.succeeded:
        return exchange.stop != "model_context_window_exceeded" and not is_uncounted(exchange)
    return exchange.transient and exchange.status != 200


def _goes_back(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether a turn begins with the stored history again, after a turn that sent only a part.

    A request of that turn, after its last successful compaction, shows the stored history.
    """
    called, now = before.called, exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or called.turn == now.turn or all(map(_is_gone_on_from, turn.main)):
        return False
    helped = max((c.n for c in trace.compactions if c.turn is turn and not c.failed), default=0)
    held = (e.node for e in turn.main if e.n > helped)
    return any(stands(settled_list(node), exchange.node) for node in held)


def _leaves_out_a_failure(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether a later turn begins as the failed turn of `before` began. An agent may keep all
    messages of a failed turn, or leave all of them out."""
    called, now = before.called, exchange.called
    turn = trace.turns.get((called.session, called.turn))
    if turn is None or called.turn == now.turn or not turn.readable:
        return False
    if any(claimed(ending) == "completed" for ending in turn.endings):
        return False
    return stands(settled_list(turn.readable[0].node), exchange.node)


def _begins_alike(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    same_system = before.request.system == exchange.request.system
    same_tools = not _is_reordered(trace, before, exchange)
    settled = settled_list(before.node)
    alike = stands(settled, exchange.node) or _is_unsigned(before, exchange, settled.messages)
    return same_system and same_tools and alike


def _is_unsigned(before: Exchange, exchange: Exchange, settled: Sequence[Message]) -> bool:
    """Whether only signed thought differs, between requests to two models: no model takes the
    signatures of another one, so an agent leaves them out for a fallback."""
    if before.request.model == exchange.request.model:
        return False
    old = [_meant(message) for message in settled]
    return old == [_meant(message) for message in exchange.node.messages[: len(old)]]


def _meant(message: Message) -> Message:
    """A message without thinking and without what signs it."""
    blocks = (
        msgspec.structs.replace(block, extra={}) if isinstance(block, Text | ToolUse) else block
        for block in message.blocks
        if not isinstance(block, Thinking)
    )
    return Message(message.role, tuple(block for block in blocks if block != Text("")))


def _is_reordered(trace: Trace, before: Exchange, exchange: Exchange) -> bool:
    """Whether the same tools are offered in another order."""
    old, new = before.request.tools, exchange.request.tools
    if old == new:
        return False
    one, other = list(trace.schemas.get(old, ())), list(trace.schemas.get(new, ()))
    return one != other and sorted(one) == sorted(other)


def _system(before: Exchange, exchange: Exchange, values: Named[Json]) -> str:
    """How the system text changed, in words."""
    was, now = (system_text(e, values).strip() for e in (before, exchange))
    return f"it {changed_to(was, now)}" if now else f"{exchange.called.key} has none"


def _differences(history: History, before: Exchange, exchange: Exchange) -> Iterator[Finding]:
    trace = history.trace
    if not _is_gone_on_from(before) or _goes_back(trace, before, exchange):
        return
    events, both = (before.n, exchange.n), f"{before.called.key} and {exchange.called.key}"
    less = thinned(before, exchange)
    if before.request.system != exchange.request.system:
        text = (
            less
            or f"{both} have different system texts: {_system(before, exchange, history.values)}"
        )
        yield Finding("append_only_prefix.system", text, events)
    if _is_reordered(trace, before, exchange):
        yield Finding("append_only_prefix.tools", f"{both} offer tools in another order", events)
    settled = settled_list(before.node)
    if not (_leaves_out_a_failure(trace, before, exchange) or stands(settled, exchange.node)):
        difference = first_difference(before.node, settled, exchange.node)
        text = less or f"{both} begin differently: {difference}"
        yield Finding("append_only_prefix.messages", text, events)
