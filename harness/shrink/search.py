"""Shrinking: the smallest scenario that can be reached, one kept step after the other.

Pure but for `keeps`, which plays a candidate and says whether the finding is still there. The same
scenario and the same answers give the same result. A pass tries every reduction; after a pass in
which nothing was kept, no single step can go on, and the scenario is minimal.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.messages import digest
from harness.shrink.allowed import is_allowed
from harness.shrink.measure import Measure, measure
from harness.shrink.reductions import REDUCTIONS
from harness.shrink.steps import Reduction

TRIES_MAX = 20_000
"""How many candidates are played at the most."""


class Step(msgspec.Struct, frozen=True):
    """A candidate was played: the smallest scenario by now, and how many were played and kept."""

    best: Scenario
    tried: int
    kept: int
    is_kept: bool


class Shrunk(msgspec.Struct, frozen=True):
    """What shrinking came to; `minimal` says that no single reduction of it keeps the finding."""

    scenario: Scenario
    tried: int
    kept: int
    minimal: bool = True


def shrink(
    scenario: Scenario,
    keeps: Callable[[Scenario], bool],
    on_step: Callable[[Step], object] | None = None,
    *,
    tries_max: int = TRIES_MAX,
) -> Shrunk:
    """The smallest scenario for which `keeps` still holds; it is taken to hold for `scenario`.

    Every candidate is one that the loader accepts, is smaller than the one before by `measure`, and
    is asked about once. `on_step` is told of each; what it raises ends the search, so whoever wants
    to stop early keeps the last `best`.
    """
    search = _Search(scenario, keeps, on_step, tries_max)
    minimal = search.to_the_end()
    return Shrunk(search.best, search.tried, search.kept, minimal)


class _Spent(Exception):
    """As many candidates were played as may be."""


class _Search:
    """The smallest scenario by now, and the names of all that was asked about."""

    def __init__(
        self,
        scenario: Scenario,
        keeps: Callable[[Scenario], bool],
        on_step: Callable[[Step], object] | None,
        tries_max: int,
    ) -> None:
        self.best, self.tried, self.kept = scenario, 0, 0
        self._keeps, self._on_step, self._tries_max = keeps, on_step, tries_max
        self._size: Measure = measure(scenario)
        self._asked: set[str] = set()

    def to_the_end(self) -> bool:
        """Pass after pass until one keeps nothing; False if the tries are spent before."""
        try:
            before = -1
            while before < self.kept:
                before = self.kept
                for reduction in REDUCTIONS:
                    self._follow(reduction)
        except _Spent:
            return False
        return True

    def _follow(self, reduction: Reduction) -> None:
        steps = reduction(self.best)
        try:
            candidate = next(steps)
            while True:
                candidate = steps.send(self._take(candidate))
        except StopIteration:
            return

    def _take(self, candidate: Scenario) -> bool:
        """Whether the candidate is smaller and keeps the finding; then it is the best."""
        size = measure(candidate)
        if size >= self._size or not self._is_new(candidate):
            return False
        if not is_allowed(candidate, self.best):
            return False
        if self.tried >= self._tries_max:
            raise _Spent
        self.tried += 1
        is_kept = self._keeps(candidate)
        if is_kept:
            self.best, self._size = candidate, size
            self.kept += 1
        if self._on_step is not None:
            self._on_step(Step(self.best, self.tried, self.kept, is_kept))
        return is_kept

    def _is_new(self, candidate: Scenario) -> bool:
        name = digest(msgspec.to_builtins(candidate))
        is_new = name not in self._asked
        self._asked.add(name)
        return is_new
