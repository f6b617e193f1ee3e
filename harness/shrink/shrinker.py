"""The shrinker: it makes a scenario smaller step by step, while the finding stays.

Equal answers of `keeps` give an equal result. After a pass that keeps nothing, the scenario is
minimal. A candidate must load. It may not add open calls or blank messages, because these cause
other findings of the same code.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.core.scenario.scenario import Scenario
from harness.core.values.messages import digest
from harness.files.mistakes import mistakes_in
from harness.shrink import field_reductions, script_reductions
from harness.shrink.delta_debugging import Reduction
from harness.shrink.scenario_size import ScenarioSize, size_of, turns_of
from harness.shrink.script_reductions import is_whole


def is_allowed(candidate: Scenario, before: Scenario) -> bool:
    """Whether a candidate loads, and adds no blank message and no open call to `before`."""
    if blanks(candidate) > blanks(before):
        return False
    if is_whole(before.session.messages) and not is_whole(candidate.session.messages):
        return False
    return next(mistakes_in(candidate), None) is None


def blanks(scenario: Scenario) -> int:
    """How many turns and messages say nothing."""
    turns = (turn for turn in turns_of(scenario) if not turn.blocks and turn.use is None)
    contents = [
        *(turn.say or "" for turn in turns),
        *(message.content for message in scenario.session.messages),
        *(item.text for item in scenario.inbox if item.kind == "message"),
    ]
    return sum(not (c.strip() if isinstance(c, str) else c) for c in contents)


REDUCTIONS: tuple[Reduction, ...] = (
    script_reductions.windows,
    script_reductions.folded_turns,
    script_reductions.rounds,
    script_reductions.turns_with_outcomes,
    field_reductions.entries_of("script"),
    script_reductions.fewer_times,
    script_reductions.plain_answers,
    script_reductions.folded_outcomes,
    field_reductions.entries_of("faults"),
    field_reductions.entries_of("inbox"),
    field_reductions.earlier,
    script_reductions.messages,
    script_reductions.calls,
    field_reductions.entries_of("tools"),
    field_reductions.weaker,
    field_reductions.entries,
    field_reductions.numbers,
    field_reductions.texts,
    script_reductions.short_forms,
)


TRIES_MAX = 20_000
"""The most candidates that are played."""


class ShrinkStep(msgspec.Struct, frozen=True):
    """A candidate was played: the smallest scenario by now, and how many were played and kept."""

    best: Scenario
    tried: int
    kept: int
    is_kept: bool


class Shrunk(msgspec.Struct, frozen=True):
    """The result of shrinking; `minimal` says that no single reduction of it keeps the finding."""

    scenario: Scenario
    tried: int
    kept: int
    minimal: bool = True


def shrink(
    scenario: Scenario,
    keeps: Callable[[Scenario], bool],
    on_step: Callable[[ShrinkStep], object] | None = None,
    *,
    tries_max: int = TRIES_MAX,
) -> Shrunk:
    """The smallest scenario for which `keeps` still holds; it is taken to hold for `scenario`.

    The loader accepts every candidate, and each is smaller than the last kept one by `size_of`. No
    candidate is played twice. `on_step` is called after each; an exception of it ends the search.
    So a caller that stops early keeps the last `best`.
    """
    search = _Search(scenario, keeps, on_step, tries_max)
    minimal = search.to_the_end()
    return Shrunk(search.best, search.tried, search.kept, minimal)


class _Spent(Exception):
    """The most candidates have been played."""


class _Search:
    """The smallest scenario so far, and the digests of all candidates."""

    def __init__(
        self,
        scenario: Scenario,
        keeps: Callable[[Scenario], bool],
        on_step: Callable[[ShrinkStep], object] | None,
        tries_max: int,
    ) -> None:
        self.best, self.tried, self.kept = scenario, 0, 0
        self._keeps, self._on_step, self._tries_max = keeps, on_step, tries_max
        self._size: ScenarioSize = size_of(scenario)
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
        # A reduction is a generator: it gets the answer to each candidate, and goes on from there.
        steps = reduction(self.best)
        try:
            candidate = next(steps)
            while True:
                candidate = steps.send(self._take(candidate))
        except StopIteration:
            return

    def _take(self, candidate: Scenario) -> bool:
        """Whether the candidate is smaller and keeps the finding; then it is the best."""
        size = size_of(candidate)
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
            self._on_step(ShrinkStep(self.best, self.tried, self.kept, is_kept))
        return is_kept

    def _is_new(self, candidate: Scenario) -> bool:
        name = digest(msgspec.to_builtins(candidate))
        is_new = name not in self._asked
        self._asked.add(name)
        return is_new
