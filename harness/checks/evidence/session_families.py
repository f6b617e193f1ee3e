"""Sessions that make sessions: whose child each is, and the turn of the user that it works for.

A sub-agent is a session of its own, and names its parent in its first call. Whatever it does
belongs to the turn in which it was made; so does what its own children do. A session that names
nobody, or nobody who has called before, is a root.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from harness.core.history.events import Answered, Called
from harness.core.history.trace import Trace

TurnName: TypeAlias = tuple[str, int]
"""A session and the number of one of its turns."""


class Child(msgspec.Struct, frozen=True):
    """A session that another one made: its first call is event `n`.

    `root` is the turn of the user that it works for, `depth` how many parents it has.
    """

    session: str
    parent: str
    root: TurnName
    depth: int
    n: int


Family: TypeAlias = dict[str, Child]
"""The children of a run by session."""


def children(trace: Trace) -> Family:
    """The children of a run by session, in the order in which they were made."""
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
    """The turn of the user that an event belongs to, as far as it was known by then."""
    child = family.get(event.session)
    return child.root if child and child.n <= event.n else (event.session, event.turn)
