"""Group chats: sessions in which messages of one side carry different names.

Some APIs take a `name` beside the role of a message. Several people may then speak in a row, so
rules about two speakers do not apply. If other messages of its side have a name, a message without
a name is from another speaker. A conversation of two in which the user has a name is not a group
chat.
"""

from __future__ import annotations

from collections import Counter

from harness.core.history.exchanges import Node
from harness.core.history.trace import Trace
from harness.core.values.messages import Opaque

_SIDES = frozenset({"user", "assistant"})


def group_chats(trace: Trace) -> frozenset[str]:
    """The sessions of a trace that are group chats."""
    speakers = {
        (exchange.called.session, node.side, _speaker(node))
        for exchange in trace.exchanges
        for node in exchange.added
        if node.side in _SIDES and not node.message.tool_results
    }
    sides = Counter((session, side) for session, side, _ in speakers)
    return frozenset(session for (session, _), count in sides.items() if count > 1)


def _speaker(node: Node) -> str:
    """The name beside the role of a message; "" without a name."""
    values = (b.value.get("name") for b in node.message.blocks if isinstance(b, Opaque))
    return next((value for value in values if isinstance(value, str)), "")
