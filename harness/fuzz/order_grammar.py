"""Orders of events from a choice sequence: few changes, at any depth of the run.

Nearly every race needs one or two changes, and a run has many points. So the number of changes is
small, and a distance is as likely short as long (Burckhardt et al., PCT, ASPLOS 2010).
"""

from __future__ import annotations

from harness.core.values.orders import Order
from harness.fuzz.choice_sequence import Choose

CHANGES_MOST = 3
DISTANCES = 6
"""A change is at most this power of two behind the one before."""

PLACES = 2
"""The second or the third in line goes first; longer lines are rare."""


def orders_of(choose: Choose) -> tuple[Order, ...]:
    """Return the changes of an order, none of them for the simplest answers."""
    found: list[Order] = []
    at = 0
    while len(found) < CHANGES_MOST and choose(3):
        at += 1 + choose(1 << choose(DISTANCES))
        found.append(Order(at=at, first=2 + choose(PLACES)))
    return tuple(found)
