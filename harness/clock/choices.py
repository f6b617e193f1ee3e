"""Who goes first among the waits that end at one moment: the one place where that is a choice.

The line is the order of a run without choices. Only threads and tasks that wait already are in it,
so no choice makes an order that cannot happen: what a thread does later is not in line yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from harness.core.values.orders import ChoicePoint, Order

POINTS_MOST = 1000
"""The points of a life that are choices. Two threads that poll would make one at each tick, and a
run of a day would hold nothing else."""


class InLine(Protocol):
    """What may wait in line."""

    label: str
    worker: str


W = TypeVar("W", bound=InLine)


class Choices:
    """The points of choice of a life so far; `orders` name the places that go before their turn.

    A place that the line does not have is not taken: the first one goes.
    """

    def __init__(self, orders: Iterable[Order]) -> None:
        self._first = {order.at: order.first for order in orders}
        self.points: list[ChoicePoint] = []
        self._served: dict[str, int] = {}

    def served(self, worker: str) -> int:
        """The number of the turn that a worker had last, 0 before its first. Who called first is
        also the first to get an answer, while nothing else is chosen."""
        return self._served.get(worker, 0)

    def chosen(self, line: Sequence[W]) -> W:
        """The one that goes; a line of several is a point, and is kept."""
        one = self._one_of(line)
        if one.worker:
            self._served[one.worker] = max(self._served.values(), default=0) + 1
        return one

    def _one_of(self, line: Sequence[W]) -> W:
        if len(line) < 2 or len(self.points) >= POINTS_MOST:
            return line[0]
        place = self._first.get(len(self.points) + 1, 1)
        went = place if place <= len(line) else 1
        self.points.append(ChoicePoint(tuple(wait.label for wait in line), went))
        return line[went - 1]
