"""How a campaign with a time limit divides its time between exploring and shrinking.

Shrinking gets half of the workers' time, and one finding an eighth of the remaining time. A program
plays few runs, so without this limit the first finding would take all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

ONE_FINDING = 1 / 8
"""The largest share of the remaining time for one finding."""

LEAST_S = 10.0
"""The least time for a finding, if the campaign has it."""


class TimeShare:
    """The time of tasks so far; running tasks count up to now."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._spent_s = {False: 0.0, True: 0.0}
        self._under_way: dict[Hashable, tuple[bool, float]] = {}

    def begun(self, task: Hashable, *, shrinks: bool) -> None:
        """Record that a task begins."""
        self._under_way[task] = shrinks, self._now_s()

    def ended(self, task: Hashable) -> None:
        """Record that a task has ended; an unknown task began before a resume."""
        if task in self._under_way:
            shrinks, begun_s = self._under_way.pop(task)
            self._spent_s[shrinks] += self._now_s() - begun_s

    @property
    def may_shrink(self) -> bool:
        """Whether shrinking has used at most its half."""
        return self._all_s(True) <= self._all_s(False)

    def _all_s(self, shrinks: bool) -> float:
        now_s = self._now_s()
        running = (now_s - begun for kind, begun in self._under_way.values() if kind is shrinks)
        return self._spent_s[shrinks] + sum(running)

    def end_of_a_finding(self, until_s: float) -> float:
        """Return when shrinking must end for a finding that begins now."""
        now_s = self._now_s()
        return min(until_s, now_s + max(LEAST_S, ONE_FINDING * (until_s - now_s)))
