"""Message lists as paths in one tree.

The requests of a run mostly repeat each other: each is the last one and a little more. So a list
of messages is a node, its messages the path from the root; two equal lists are the same node, and
a run of n requests costs what they add, not n times their length.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.core.values.messages import Message, Side, side


class Node:
    """A message at its place: the list that ends with it. The root, of depth 0, has no message."""

    __slots__ = ("children", "depth", "digest", "message", "parent", "side")

    def __init__(self, parent: Node | None, digest: str, message: Message) -> None:
        self.parent, self.digest, self.message = parent, digest, message
        self.depth: int = parent.depth + 1 if parent else 0
        self.side: Side = side(message)
        self.children: dict[str, Node] = {}

    def child(self, digest: str, message: Message) -> Node:
        """The list with one more message."""
        node = self.children.get(digest)
        if node is None:
            node = self.children[digest] = Node(self, digest, message)
        return node

    def first(self, depth: int) -> Node:
        """The list of its first `depth` messages."""
        node = self
        while node.depth > depth and node.parent is not None:
            node = node.parent
        return node

    def tail(self, stop: Node | None = None) -> tuple[Node, ...]:
        """The nodes after `stop` (all of them without it), oldest first."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node is not stop and node.depth:
            nodes.append(node)
            node = node.parent
        return tuple(reversed(nodes))

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole list."""
        return tuple(node.message for node in self.tail())

    def newest(self, role_side: Side = "user") -> tuple[Message, ...]:
        """The messages of this side at the end of the list, oldest first; system ones skipped."""
        found: list[Message] = []
        node: Node | None = self
        while node is not None and node.depth and node.side in (role_side, "system"):
            if node.side == role_side:
                found.append(node.message)
            node = node.parent
        return tuple(reversed(found))


def root() -> Node:
    """An empty list, from which the others grow."""
    return Node(None, "", Message("system"))


def grow(node: Node, messages: Iterable[tuple[str, Message]]) -> Node:
    """The list with these messages (digest and value) added."""
    for digest, message in messages:
        node = node.child(digest, message)
    return node
