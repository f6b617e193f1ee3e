"""Lists of messages and their texts, compared: what is new, what stands in a list, what is alike.

White space and halves of characters do not count in a comparison of texts. A list of a later
request shares its nodes with the one before, so two lists are compared by identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.history.exchanges import Exchange, Node
from harness.core.history.trace import Trace


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


def accepted(trace: Trace) -> Iterator[Exchange]:
    """The main and compact requests against which the dialect has nothing to say."""
    for exchange in trace.exchanges:
        if exchange.purpose != "aux" and not exchange.called.refused:
            yield exchange


def first_seen(trace: Trace) -> Iterator[tuple[Exchange, tuple[Node, ...]]]:
    """Each accepted request with those of its messages that no accepted one had at their place."""
    seen: set[int] = set()
    for exchange in accepted(trace):
        fresh: list[Node] = []
        node: Node | None = exchange.node
        while node is not None and node.depth and id(node) not in seen:
            seen.add(id(node))
            fresh.append(node)
            node = node.parent
        yield exchange, tuple(reversed(fresh))


def same_text(stored: str, said: str) -> bool:
    """Whether two texts are the same, or one wraps the other; white space does not count."""
    a, b = squeeze(stored), squeeze(said)
    return bool(a and b) and (a in b or b in a)


def squeeze(text: str) -> str:
    """The text without white space, and without halves of characters, as they are, written out,
    or replaced: an agent can neither store nor send them."""
    joined = "".join(text.split())
    if joined.isascii() and "\\ud" not in joined:
        return joined
    whole = joined.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return _HALVES.sub("", whole)


_HALVES = re.compile(r"\ufffd|\\ud[89a-f][0-9a-f]{2}")


def says(node: Node | None, text: str) -> bool:
    """Whether the assistant says `text` in a list of messages; the end is looked at first."""
    while node is not None and node.depth:
        if node.side == "assistant" and same_text(node.message.text, text):
            return True
        node = node.parent
    return False
