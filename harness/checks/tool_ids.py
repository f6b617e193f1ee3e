"""The ids of tool calls in requests: each call has its own id, and its own result.

Each message is checked once, where it first appears, so cost is linear in the session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.checks.evidence.declarations import asks_ids, asks_results, needs
from harness.checks.evidence.message_authors import unsent_answers
from harness.checks.evidence.stored_messages import accepted, first_seen
from harness.core.history.exchanges import Exchange, Node
from harness.core.history.history import History
from harness.core.values.verdict import Cause, Finding


@needs("model", place=100)
@asks_ids("empty")
@asks_results("two_results")
def unique_tool_ids(history: History) -> Iterator[Finding]:
    """The id of a tool call is unique and not empty, and has at most one result.

    `empty`: a call without an id. `repeated`: two calls of one request have the same.
    `two_results`: more results name an id than calls have it. Asked of requests that the dialect
    accepts. In a recording the calls without an id are one finding.

    Not a finding: the same call in a later request, as part of the history; one id in two sessions.

    Clones of the API use the tool's name as the id, or send no id, so a result matches the wrong
    call. To fix it, give such a call a new id before it is sent. Source: invariant 2;
    anthropics/claude-code#20901.
    """
    lanes: dict[tuple[str, str], _Lane] = {}
    nameless: list[Exchange] = []
    for exchange in accepted(history.trace):
        lane = lanes.setdefault((exchange.called.session, exchange.purpose), _Lane())
        for rule, id_ in lane.go_to(exchange.node):
            if rule == "empty" and history.trace.world == "recording":
                nameless.append(exchange)
            else:
                text = f"{exchange.called.key}: {_IDS[rule].format(id_)}"
                yield Finding(f"unique_tool_ids.{rule}", text, (exchange.n,))
    if nameless:
        text = f"{nameless[0].called.key}: {_IDS['empty']}"
        more = f", and {len(nameless) - 1} more in this recording" if nameless[1:] else ""
        yield Finding("unique_tool_ids.empty", f"{text}{more}", (nameless[0].n,))


_IDS = {
    "empty": "a tool call with an empty id",
    "repeated": "the id {} is used twice",
    "two_results": "the id {} has more results than calls",
}


class _Lane:
    """The current message list of one kind of request in one session, and the ids in it."""

    def __init__(self) -> None:
        self._end: Node | None = None
        self._counts = Counter[tuple[str, str]]()
        self._mine: dict[int, list[tuple[str, str]]] = {}
        self._told: set[int] = set()

    def go_to(self, node: Node) -> Iterator[tuple[str, str]]:
        """Move the list to `node`, and yield rule and id for each fault in its new messages."""
        entered = self._leave_for(node)
        for new in reversed(entered):
            if new.calls or new.results:
                wrong = tuple(self._enter(new))
                if id(new) not in self._told:
                    yield from wrong
                self._told.add(id(new))
        self._end = node

    def _leave_for(self, node: Node) -> list[Node]:
        """Remove messages that the new list lacks, and return its added messages, the newest
        first."""
        old, new, entered = self._end, node, []
        while old is not new:
            if old is None or (new.parent is not None and new.depth > old.depth):
                entered.append(new)
                if new.parent is None:
                    break
                new = new.parent
            else:
                self._counts.subtract(self._mine.pop(id(old), ()))
                old = old.parent
        return entered

    def _enter(self, node: Node) -> Iterator[tuple[str, str]]:
        counts, mine = self._counts, self._mine.setdefault(id(node), [])
        mine += [("call", use.id) for use in node.calls]
        mine += [("result", result.id) for result in node.results]
        for kind, id_ in mine:
            counts[kind, id_] = count = counts.get((kind, id_), 0) + 1
            if kind == "call" and not id_:
                yield "empty", ""
            elif kind == "call" and count > 1:
                yield "repeated", id_
            elif kind == "result" and id_ and count > max(1, counts.get(("call", id_), 0)):
                yield "two_results", id_


class _Calls(msgspec.Struct, frozen=True):
    """The calls of the assistant's last turn: those `made`, and those of them that need a result.

    A message adds a link to `said` or `answered`, which share the links before it: a copy of a set
    for each message is quadratic. `made` and `owed` are complete when the assistant has spoken.
    """

    made: frozenset[str] = frozenset()
    owed: frozenset[str] = frozenset()
    said: Any = None
    answered: Any = None

    @property
    def is_said(self) -> bool:
        return self.said is not None

    @property
    def open(self) -> frozenset[str]:
        """The calls without a result."""
        if self.answered is None or self.answered[-1] is None:  # nearly always
            return self.owed.difference(*(self.answered or ())[:-1])
        return self.owed.difference(*(ids for (ids,) in _links(self.answered)))

    @property
    def whole(self) -> _Calls:
        """The calls when the assistant has said all."""
        if self.said is None:
            return self
        if self.said[-1] is None:  # nearly always
            return _Calls(*self.said[:-1])
        made, owed = zip(*_links(self.said), strict=True)
        return _Calls(_NO_IDS.union(*made), _NO_IDS.union(*owed))


def _links(chain: Any) -> Iterator[tuple[frozenset[str], ...]]:
    while chain is not None:
        *link, chain = chain
        yield tuple(link)


_NO_IDS = frozenset[str]()


_NONE = _Calls()


@needs("model", place=90)
@asks_results()
def tool_pairing(history: History) -> Iterator[Finding]:
    """Every tool call in a request has its result directly after it, and every result has its call.

    `unanswered`: a call of the assistant has no result before it speaks again, or before the end of
    the request. `orphan`: a result whose call is not in the assistant's last turn. Asked of
    requests that the dialect accepts.

    Not a finding: results in any order or split over several messages; neighbouring messages of the
    assistant (one turn); a result whose call the provider keeps (`previous_response_id`); in a log,
    the calls of an answer that broke off, which no request repeats.

    One call without a result breaks a session: every later request is refused. To fix it, answer
    each call before the next message, with an error result if the outcome is unknown. Source:
    invariant 1; openclaw/openclaw#16095.
    """
    state: dict[int, _Calls] = {}
    logged = any(start.inferred for start in history.trace.starts)
    unsent = unsent_answers(history.trace) if logged else frozenset()
    for exchange, nodes in first_seen(history.trace):
        for node in nodes:
            before = state.get(id(node.parent), _NONE)
            state[id(node)], orphans = _step(before, node, id(node.message) in unsent)
            if node.side == "assistant" and not before.is_said and (owed := before.open):
                yield _without_result(exchange, node, owed)
            if orphans and not exchange.request.stateful:
                text = f"{exchange.called.key}: a result without its call: {_ids(orphans)}"
                yield Finding("tool_pairing.orphan", text, (exchange.n,))
        last = state.get(id(exchange.node), _NONE)
        if not last.is_said and (owed := last.open):
            yield _without_result(exchange, exchange.node, owed)
            state[id(exchange.node)] = _Calls(last.made)


def _step(before: _Calls, node: Node, is_unsent: bool) -> tuple[_Calls, frozenset[str]]:
    """The calls after a message, and the ids of its results without a call. Calls of an answer that
    is not sent again need no result."""
    if node.side == "system":
        return before, _NO_IDS
    if node.side == "assistant":
        made = frozenset([use.id for use in node.calls])
        return _Calls(said=(made, _NO_IDS if is_unsent else made, before.said)), _NO_IDS
    found = frozenset([result.id for result in node.results])
    before = before.whole
    answered = (found, before.answered) if found else before.answered
    return _Calls(before.made, before.owed, answered=answered), found - before.made


def _without_result(exchange: Exchange, end: Node, open_ids: frozenset[str]) -> Finding:
    text = f"{exchange.called.key}: a call without its result: {_ids(open_ids)}"
    cause = Cause(tool=_tool_names(end, open_ids))
    return Finding("tool_pairing.unanswered", text, (exchange.n,), cause=cause)


def _tool_names(end: Node, ids: frozenset[str]) -> str:
    """The tools of the newest calls with these ids, in the list that ends with a message."""
    names: dict[str, str] = {}
    for node in end.back():
        names |= {u.id: u.name for u in node.calls if u.id in ids - names.keys()}
        if names.keys() == ids:
            break
    return ", ".join(sorted(set(names.values())))


def _ids(ids: frozenset[str]) -> str:
    return ", ".join(sorted(ids))
