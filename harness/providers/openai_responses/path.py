"""A conversation as a path of items, and its messages.

The server may be asked to go on from any response that it keeps, so conversations are paths in one
tree: a node is an item with all that comes before it. A node knows what it says and what the
validator found up to it; both are worked out once, when it is made. The reader stands at the end of
one path, and going to another one costs what the two do not share.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from harness.core.values.messages import Block, Json, Message
from harness.providers.openai_responses import items
from harness.providers.openai_responses.validator import EMPTY, State


class Node:
    """An item at its place; `joins`: it belongs to the message of the item before it."""

    __slots__ = ("depth", "joins", "parent", "said", "state")

    said: items.Said

    def __init__(self, parent: Node | None, item: Json, state: State) -> None:
        before = parent.said if parent else None
        said = items.read(item)
        self.joins = before is not None and _joins(before, said)
        if self.joins and before is not None and before.is_message and said.is_message:
            said = items.read(item, after_message=True)
        self.parent, self.said, self.state = parent, said, state
        self.depth: int = parent.depth + 1 if parent else 1


def _joins(before: items.Said, said: items.Said) -> bool:
    return before.role == said.role and (said.role == "assistant" or before.answers)


class Path:
    """The conversation at which a reader stands. `ids` are the names that it uses."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.messages: list[Message] = []
        self.ids: dict[str, int] = {}
        self._starts: list[int] = []
        self._keep = 0

    @property
    def tip(self) -> Node | None:
        """The last node."""
        return self.nodes[-1] if self.nodes else None

    @property
    def state(self) -> State:
        """What the validator knows at the end."""
        return self.nodes[-1].state if self.nodes else EMPTY

    def begin(self) -> None:
        """A new request: what is kept of the messages is counted from here."""
        self._keep = len(self.messages)

    def go(self, tip: Node | None) -> None:
        """Stand at another node."""
        more: list[Node] = []
        node = tip
        while node is not None and not self._holds(node):
            more.append(node)
            node = node.parent
        self.cut(node.depth if node else 0)
        for node in reversed(more):
            self.push(node)

    def _holds(self, node: Node) -> bool:
        return node.depth <= len(self.nodes) and self.nodes[node.depth - 1] is node

    def cut(self, depth: int) -> None:
        """Go back to the first `depth` items."""
        for node in self.nodes[depth:]:
            for name in node.state.ids:
                if self.ids.get(name) == node.depth:
                    del self.ids[name]
        del self.nodes[depth:]
        whole = bisect_left(self._starts, depth)
        del self.messages[whole:], self._starts[whole:]
        self._keep = min(self._keep, whole)
        if whole and (held := self._starts[-1]) < depth:
            self._remake(held)

    def _remake(self, start: int) -> None:
        """The last message once more, from the items that are left of it."""
        said = [node.said for node in self.nodes[start:]]
        message = Message(said[0].role, tuple(block for s in said for block in s.blocks))
        if message != self.messages[-1]:
            self.messages[-1] = message
            self._keep = min(self._keep, len(self.messages) - 1)

    def push(self, node: Node) -> None:
        """Go one item on."""
        said = node.said
        if node.joins:
            blocks: tuple[Block, ...] = self.messages[-1].blocks + said.blocks
            self.messages[-1] = Message(said.role, blocks)
            self._keep = min(self._keep, len(self.messages) - 1)
        else:
            self._starts.append(len(self.nodes))
            self.messages.append(Message(said.role, said.blocks))
        self.nodes.append(node)
        for name in node.state.ids:
            self.ids.setdefault(name, node.depth)

    def kept(self) -> tuple[int, Sequence[Message]]:
        """How many messages stand as before `begin`, and all of them."""
        return self._keep, tuple(self.messages)


def grown(tip: Node | None, output: Sequence[Json]) -> Node | None:
    """The path with the items of an answer, which the validator takes as they are."""
    for item in output:
        state = tip.state if tip else EMPTY
        tip = Node(tip, item, state.answered(item))
    return tip
