"""The ids of tool calls in requests: each call has its own id.

Each message is checked once, where it first appears, so cost is linear in the session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from harness.checks.evidence.declarations import asks_ids, asks_results, needs
from harness.checks.evidence.stored_messages import accepted
from harness.core.history.exchanges import Node
from harness.core.history.history import History
from harness.core.values.verdict import Finding


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
    nameless: list[Finding] = []
    for exchange in accepted(history.trace):
        lane = lanes.setdefault((exchange.called.session, exchange.purpose), _Lane())
        for rule, id_ in lane.go_to(exchange.node):
            text = f"{exchange.called.key}: {_IDS[rule].format(id_)}"
            found = Finding(f"unique_tool_ids.{rule}", text, (exchange.n,))
            if rule == "empty" and history.trace.world == "recording":
                nameless.append(found)
            else:
                yield found
    if len(nameless) > 1:
        text = f"{nameless[0].message}, and {len(nameless) - 1} more in this recording"
        nameless[0] = msgspec.structs.replace(nameless[0], message=text)
    yield from nameless[:1]


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
        mine += [("call", use.id) for use in node.message.tool_uses]
        mine += [("result", result.id) for result in node.message.tool_results]
        for kind, id_ in mine:
            counts[kind, id_] += 1
            if kind == "call" and not id_:
                yield "empty", ""
            elif kind == "call" and counts[kind, id_] > 1:
                yield "repeated", id_
            elif kind == "result" and id_ and counts[kind, id_] > max(1, counts["call", id_]):
                yield "two_results", id_
