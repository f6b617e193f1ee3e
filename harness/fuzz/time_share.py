"""How a campaign with a time limit divides its time between exploring and shrinking.

Shrinking gets half of the time that the workers have spent, and one finding an eighth of what is
left: a program plays so few runs that the first finding would take all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

ONE_FINDING = 1 / 8
"""The most of the time that is left that one finding gets."""

LEAST_S = 10.0
"""What a finding gets in any case, as long as the campaign has it."""


class TimeShare:
    """The time that tasks have taken by now; those under way count up to now."""

    def __init__(self, now_s: Callable[[], float] = time.time) -> None:
        self._now_s = now_s
        self._spent_s = {False: 0.0, True: 0.0}
        self._under_way: dict[Hashable, tuple[bool, float]] = {}

    def begun(self, task: Hashable, *, shrinks: bool) -> None:
        """A task is handed out."""
        self._under_way[task] = shrinks, self._now_s()

    def ended(self, task: Hashable) -> None:
        """A task has come back; one that is unknown was begun before a resume."""
        if task in self._under_way:
            shrinks, begun_s = self._under_way.pop(task)
            self._spent_s[shrinks] += self._now_s() - begun_s

    @property
    def may_shrink(self) -> bool:
        """Whether shrinking has had no more than its half."""
        return self._all_s(True) <= self._all_s(False)

    def _all_s(self, shrinks: bool) -> float:
        now_s = self._now_s()
        running = (now_s - begun for kind, begun in self._under_way.values() if kind is shrinks)
        return self._spent_s[shrinks] + sum(running)

    def end_of_a_finding(self, until_s: float) -> float:
        """When the shrinking of a finding that begins now is to end."""
        now_s = self._now_s()
        return min(until_s, now_s + max(LEAST_S, ONE_FINDING * (until_s - now_s)))
