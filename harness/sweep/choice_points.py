"""The points of choice of a run, as its history tells them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core.history.events import Ended, Killed
from harness.core.history.history import History
from harness.core.values.orders import ChoicePoint, Order

KILLED = "the agent is killed, and each of its lives has points of choice of its own"


def points_of(history: History) -> tuple[ChoicePoint, ...]:
    """The points of choice of the last life of a run."""
    last = history.events[-1] if history.events else None
    return last.points if isinstance(last, Ended) else ()


def why_unordered(history: History) -> str:
    """Why the orders of a run cannot be swept; "" for one that can."""
    return KILLED if any(isinstance(event, Killed) for event in history.events) else ""


def came_about(history: History, orders: Sequence[Order]) -> bool:
    """Whether each of the orders was taken: its point came, and had that place."""
    points = points_of(history)
    return all(
        order.at <= len(points) and points[order.at - 1].went == order.first for order in orders
    )
