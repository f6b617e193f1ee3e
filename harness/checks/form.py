"""The form of requests, whatever the dialect says: pairs, ids, blanks, text, and the last word.

A dialect refuses some of this, and `valid_request` then says so; these checks speak where it is
silent, for what one provider merges or overlooks is refused by the next one, and by the same one
next year. Each looks at a message once, where it first appears.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.exchanges import Exchange
from harness.core.history import History
from harness.core.message_tree import Node
from harness.core.messages import Json, Message, Text
from harness.core.ports import needs
from harness.core.trace import Trace
from harness.core.verdict import Finding


class _Calls(msgspec.Struct, frozen=True):
    """The calls of the last assistant message, and those of them that have no result yet."""

    made: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()


_NONE = _Calls()


def _accepted(trace: Trace) -> Iterator[Exchange]:
    """The main and compact requests against which the dialect has nothing to say."""
    for exchange in trace.exchanges:
        if exchange.purpose != "aux" and not exchange.called.refused:
            yield exchange


@needs("model")
def tool_pairing(history: History) -> Iterator[Finding]:
    """Every tool call in a request has its result right behind it, and every result its call.

    `unanswered`: an assistant message's call has no result before the next assistant message or the
    request's end. `orphan`: a result whose call is not in the assistant message before it. Asked of
    requests that the dialect accepts. Not meant: results in any order, and split over several
    messages of the user's side. Source: invariant 1; openclaw/openclaw#16095.
    """
    state: dict[int, _Calls] = {}
    for exchange in _accepted(history.trace):
        for node in exchange.added:
            before = state.get(id(node.parent), _NONE)
            state[id(node)], orphans = _step(before, node)
            if node.side == "assistant" and before.open:
                yield _unanswered(exchange, before.open)
            if orphans:
                text = f"{exchange.called.key}: a result without its call: {_ids(orphans)}"
                yield Finding("tool_pairing.orphan", text, (exchange.n,))
        last = state.get(id(exchange.node), _NONE)
        if exchange.node.side != "assistant" and last.open:
            yield _unanswered(exchange, last.open)
            state[id(exchange.node)] = _Calls(last.made)


def _step(before: _Calls, node: Node) -> tuple[_Calls, frozenset[str]]:
    """The calls after a message, and the results in it that belong to none."""
    if node.side == "system":
        return before, frozenset()
    if node.side == "assistant":
        made = frozenset(use.id for use in node.message.tool_uses)
        return _Calls(made, made), frozenset()
    found = frozenset(result.id for result in node.message.tool_results)
    return _Calls(before.made, before.open - found), found - before.made


def _unanswered(exchange: Exchange, open_ids: frozenset[str]) -> Finding:
    text = f"{exchange.called.key}: a call without its result: {_ids(open_ids)}"
    return Finding("tool_pairing.unanswered", text, (exchange.n,))


def _ids(ids: frozenset[str]) -> str:
    return ", ".join(sorted(ids))


@needs("model")
def unique_tool_ids(history: History) -> Iterator[Finding]:
    """A tool call's id is its own: never empty, never used again, with one result at most.

    `empty`, `repeated` (two calls in one request) and `two_results`. Asked of requests that the
    dialect accepts. Not meant: the same call again in a later request, which is the history.
    Source: invariant 2; anthropics/claude-code#20901.
    """
    calls: dict[tuple[str, str], Node] = {}
    answers: dict[tuple[str, str], Node] = {}
    for exchange in _accepted(history.trace):
        session = exchange.called.session
        for node in exchange.added:
            uses = [use.id for use in node.message.tool_uses]
            if not all(uses):
                text = f"{exchange.called.key}: a tool call with an empty id"
                yield Finding("unique_tool_ids.empty", text, (exchange.n,))
            for rule, ids, seen in (
                ("repeated", uses, calls),
                ("two_results", [r.id for r in node.message.tool_results], answers),
            ):
                for id_ in _again(session, node, ids, seen):
                    text = f"{exchange.called.key}: the id {id_} stands there twice"
                    yield Finding(f"unique_tool_ids.{rule}", text, (exchange.n,))


def _again(
    session: str, node: Node, ids: list[str], seen: dict[tuple[str, str], Node]
) -> Iterator[str]:
    """The ids that the list up to this message holds already; notes where each stands."""
    for place, id_ in enumerate(ids):
        first = seen.get((session, id_))
        stands = first is not None and node.first(first.depth) is first and first is not node
        if id_ and (stands or id_ in ids[:place]):
            yield id_
        if not stands:
            seen[session, id_] = node


@needs("model")
def nonblank_content(history: History) -> Iterator[Finding]:
    """No message of a request is empty, and no text block of one is blank.

    `empty`: a message without content, but for an assistant's at the end. `blank`: a text of white
    space only. Asked of requests that the dialect accepts. Not meant: a tool result without text,
    unless `results` is set, for the API takes it and some gateways do not. Source: invariant 3;
    NousResearch/hermes-agent#70475.
    """
    yield from _blank(history.trace)


def _blank(trace: Trace) -> Iterator[Finding]:
    for exchange in _accepted(trace):
        for node in exchange.added:
            rule = _blankness(node, is_last=node is exchange.node)
            if rule:
                text = f"{exchange.called.key}: message {node.depth - 1} ({node.side}) is {rule}"
                yield Finding(f"nonblank_content.{rule}", text, (exchange.n,))


def _blankness(node: Node, *, is_last: bool) -> str:
    if not node.message.blocks:
        return "" if is_last and node.side == "assistant" else "empty"
    texts = [block.text for block in node.message.blocks if isinstance(block, Text)]
    return "blank" if any(not text.strip() for text in texts) else ""


@needs("model")
def wellformed_text(history: History) -> Iterator[Finding]:
    """What is sent and what is stored is Unicode text: no half of a surrogate pair.

    `request` and `row`. Half an emoji fits into no file and into no request; once stored, it
    breaks every turn that follows. Source: invariant 4; anthropics/claude-code#86560.
    """
    broken: dict[str, bool] = {}
    for exchange in history.trace.exchanges:
        for node in exchange.added:
            if _is_broken(node.digest, node.message, broken):
                text = f"{exchange.called.key}: message {node.depth - 1} holds half a character"
                yield Finding("wellformed_text.request", text, (exchange.n,))
    for event in history.trace.stored:
        for row in (*event.added, *event.changed):
            message = history.trace.messages.get(row.digest)
            if message is not None and _is_broken(row.digest, message, broken):
                text = f"the row {row.id} holds half a character"
                yield Finding("wellformed_text.row", text, (event.n,))


def _is_broken(digest: str, message: Message, known: dict[str, bool]) -> bool:
    if digest not in known:
        known[digest] = not _encodes(msgspec.to_builtins(message))
    return known[digest]


def _encodes(value: Json) -> bool:
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return False
    return True


@needs("model")
def ends_with_user(history: History) -> Iterator[Finding]:
    """A main request ends with the user or a tool, never with the assistant's own words.

    `assistant`: the last message is the assistant's, though the answer before was not paused.
    Asked of requests that the dialect accepts: newer models take no prefill. Not meant: a request
    that sends a paused answer back, and a recording, whose model may have taken it. Source:
    invariant 5; XiaomiMiMo/MiMo-Code#1703.
    """
    if history.trace.world == "recording":
        return
    paused: dict[str, bool] = {}
    for exchange in history.trace.exchanges:
        session = exchange.called.session
        main = exchange.purpose == "main" and not exchange.called.refused
        if main and exchange.node.side == "assistant" and not paused.get(session):
            text = f"{exchange.called.key} ends with the assistant's own message"
            yield Finding("ends_with_user.assistant", text, (exchange.n,))
        if exchange.purpose != "aux":
            paused[session] = exchange.stop in ("pause_turn", "compaction")
