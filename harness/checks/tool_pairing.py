"""Tool calls and their results in a request, whatever the dialect says of them: pairs, and ids.

A dialect refuses some of this, and `valid_request` then says so; these checks speak where it is
silent. A list is followed as it grows: what a request adds is looked at, and what it drops is
forgotten, so a long session costs what it says and not its length times itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.checks.declarations import needs
from harness.checks.evidence.message_lists import accepted, first_seen
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.values.verdict import Finding


class _Calls(msgspec.Struct, frozen=True):
    """The calls of the assistant's last turn, and those that have no result yet; `is_said` while
    nothing but the assistant has spoken since."""

    made: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    is_said: bool = False


_NONE = _Calls()


@needs("model")
def tool_pairing(history: History) -> Iterator[Finding]:
    """Every tool call in a request has its result right behind it, and every result its call.

    `unanswered`: a call of the assistant has no result before it speaks again, or before the end of
    the request. `orphan`: a result whose call is not in the assistant's last turn. Asked of
    requests that the dialect accepts. Not meant: results in any order or split over several
    messages, neighbouring messages of the assistant (one turn), and a result whose call the
    provider keeps (`previous_response_id`). One left open poisons a session: every later request is
    refused. An agent mends it by answering each call before it sends the next message, with an
    error result where the outcome is unknown. Source: invariant 1; openclaw/openclaw#16095.
    """
    state: dict[int, _Calls] = {}
    for exchange, nodes in first_seen(history.trace):
        for node in nodes:
            before = state.get(id(node.parent), _NONE)
            state[id(node)], orphans = _step(before, node)
            if node.side == "assistant" and before.open and not before.is_said:
                yield _unanswered(exchange, before.open)
            if orphans and not exchange.request.stateful:
                text = f"{exchange.called.key}: a result without its call: {_ids(orphans)}"
                yield Finding("tool_pairing.orphan", text, (exchange.n,))
        last = state.get(id(exchange.node), _NONE)
        if last.open and not last.is_said:
            yield _unanswered(exchange, last.open)
            state[id(exchange.node)] = _Calls(last.made)


def _step(before: _Calls, node: Node) -> tuple[_Calls, frozenset[str]]:
    """The calls after a message, and the results in it that belong to none."""
    if node.side == "system":
        return before, frozenset()
    if node.side == "assistant":
        made = frozenset(use.id for use in node.message.tool_uses)
        if before.is_said:
            return _Calls(before.made | made, before.open | made, is_said=True), frozenset()
        return _Calls(made, made, is_said=True), frozenset()
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

    `empty`: a call without an id. `repeated`: two calls of one request have the same.
    `two_results`: two results name the same call. Asked of requests that the dialect accepts. Not
    meant: the same call again in a later request, which is the history, and one id in two sessions.
    Clones mint ids from the tool's name, or send none; then a result finds the wrong call. An agent
    mends it by giving such a call an id of its own before it is sent. Source: invariant 2;
    anthropics/claude-code#20901.
    """
    lanes: dict[tuple[str, str], _Lane] = {}
    for exchange in accepted(history.trace):
        lane = lanes.setdefault((exchange.called.session, exchange.purpose), _Lane())
        for rule, id_ in lane.go_to(exchange.node):
            what = f"the id {id_} stands there twice" if id_ else "a tool call with an empty id"
            text = f"{exchange.called.key}: {what}"
            yield Finding(f"unique_tool_ids.{rule}", text, (exchange.n,))


class _Lane:
    """The list that the requests of one kind in one session have come to, and the ids in it."""

    def __init__(self) -> None:
        self._end: Node | None = None
        self._held: dict[str, set[str]] = {"repeated": set(), "two_results": set()}
        self._mine: dict[int, list[tuple[str, str]]] = {}
        self._told: set[int] = set()

    def go_to(self, node: Node) -> Iterator[tuple[str, str]]:
        """Follow the list to `node`; what is wrong with the messages that are new: rule and id."""
        entered = self._leave_for(node)
        for new in reversed(entered):
            wrong = tuple(self._enter(new))
            if id(new) not in self._told:
                yield from wrong
            self._told.add(id(new))
        self._end = node

    def _leave_for(self, node: Node) -> list[Node]:
        """Forget what the new list has not got; what it adds, the newest first."""
        old, new, entered = self._end, node, []
        while old is not new:
            if old is None or (new.parent is not None and new.depth > old.depth):
                entered.append(new)
                if new.parent is None:
                    break
                new = new.parent
            else:
                for rule, id_ in self._mine.pop(id(old), ()):
                    self._held[rule].discard(id_)
                old = old.parent
        return entered

    def _enter(self, node: Node) -> Iterator[tuple[str, str]]:
        mine = self._mine[id(node)] = []
        for use in node.message.tool_uses:
            yield from self._hold("repeated", use.id, mine) if use.id else [("empty", "")]
        for result in node.message.tool_results:
            yield from self._hold("two_results", result.id, mine) if result.id else ()

    def _hold(self, rule: str, id_: str, mine: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        if id_ in self._held[rule]:
            yield rule, id_
        else:
            self._held[rule].add(id_)
            mine.append((rule, id_))
