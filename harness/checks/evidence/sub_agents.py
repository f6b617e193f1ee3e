"""The turn that a sub-agent belongs to.

A sub-agent is a session that names its parent in its first call. Its work belongs to the turn in
which that call was made. A session without a known parent is a root.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from harness.core.history.events import Answered, Called
from harness.core.history.trace import Trace

TurnName: TypeAlias = tuple[str, int]
"""A session and the number of one of its turns."""


class Child(msgspec.Struct, frozen=True):
    """A session that another session started: its first call is event `n`.

    `root` is the user's turn that it works for; `depth` is the number of sessions above it.
    """

    session: str
    parent: str
    root: TurnName
    depth: int
    n: int


Family: TypeAlias = dict[str, Child]
"""The children of a run by session."""


def children(trace: Trace) -> Family:
    """The children of a run by session, in the order of their start."""
    found: Family = {}
    turns: dict[str, int] = {}
    for exchange in trace.exchanges:
        called = exchange.called
        parent, new = called.parent, called.session not in turns
        if new and parent in turns and parent != called.session:
            above = found.get(parent)
            root = above.root if above else (parent, turns[parent])
            depth = above.depth + 1 if above else 1
            found[called.session] = Child(called.session, parent, root, depth, called.n)
        turns[called.session] = called.turn
    return found


def root_turn(family: Family, event: Called | Answered) -> TurnName:
    """The user's turn that an event belongs to, as far as it was known at that event."""
    child = family.get(event.session)
    return child.root if child and child.n <= event.n else (event.session, event.turn)
