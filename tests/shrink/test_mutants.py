"""Mutants are shrunk in their own scenarios: the finding stays, and little else does.

The fast tier shrinks a few, of which it is known what is left, the slow tier more of them;
`python -m tests.shrink.test_mutants` shrinks every one, in a quarter of an hour.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from statistics import median

import pytest

from harness.core.scenario.scenario import Scenario
from harness.runner import run
from harness.shrink import FindingOracle, shrink
from harness.shrink.scenario_size import Extent, extent, size_of
from harness.targets.spec import of_callable
from tests import mutants
from tests.mutants import Mutant
from tests.mutants.__main__ import is_killed, scenarios

SAMPLE = {
    "as_stored_orphan": (1, 0),
    "blind_resend": (1, 1),
    "cancel_ignored": (2, 0),
    "claims_success": (1, 0),
    "compacts_without_a_summary": (4, 0),
    "deaf_to_413": (2, 1),
    "delivered_not_stored": (1, 0),
    "delivers_twice": (1, 0),
    "forgets_results": (2, 0),
    "ignores_retry_after": (1, 1),
    "no_breaker": (1, 0),
    "no_circles": (8, 0),
    "no_tool_timeout": (2, 1),
    "sends_half_a_character": (1, 1),
    "two_assistants_in_a_row": (1, 0),
}
"""Mutants, one for each part of the agent, with the most turns and faults that are left of theirs.

A circle of two has to be run three times and once more: seven turns.
"""

EVERY = list(mutants.every())

SLOW = {"keeps_results_of_any_size", "two_containers_at_once"}
"""Mutants whose every run sends megabytes, or waits in real time."""

FAST = ("cancel_ignored", "ignores_retry_after", "no_breaker", "sends_half_a_character")

TURNS_MAX, FAULTS_MAX = 3, 1
"""What is left at the median."""

TRIES_MAX = 1000


@cache
def _known() -> dict[str, Scenario]:
    return scenarios()


def _left(name: str, mutant: Mutant, agent: Callable[..., object]) -> Extent:
    """What is left of the mutant's own scenario; the finding is."""
    scenario = _known()[mutant.scenario]
    keeping = FindingOracle(scenario, of_callable(agent), mutant.killed_by)
    small = shrink(scenario, keeping, tries_max=TRIES_MAX)
    assert small.minimal, name
    assert size_of(small.scenario) <= size_of(scenario), name
    played = run(small.scenario, agent)
    assert is_killed(mutant, [f.code for f in played.verdict.findings]), name
    assert keeping.is_shown(played), name
    return extent(small.scenario)


def test_the_sample_is_small() -> None:
    turns, faults = zip(*SAMPLE.values(), strict=True)
    assert median(turns) <= TURNS_MAX
    assert median(faults) <= FAULTS_MAX


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in FAST else [pytest.mark.real]) for name in SAMPLE],
)
def test_the_finding_of_a_mutant_stays_and_little_else(name: str) -> None:
    wrong = mutants.named(name)
    left = _left(name, wrong.mutant, wrong.agent)
    turns, faults = SAMPLE[name]
    assert (left.turns <= turns, left.faults <= faults) == (True, True), left


@pytest.mark.real
@pytest.mark.parametrize("name", [n for n, _, _ in EVERY[::40] if n not in {*SAMPLE, *SLOW}])
def test_the_finding_of_any_mutant_stays(name: str) -> None:
    wrong = mutants.named(name)
    _left(name, wrong.mutant, wrong.agent)


if __name__ == "__main__":
    sizes = []
    for name, mutant, wrong in EVERY:
        sizes.append(_left(name, mutant, wrong.agent))
        print(f"{name}: {sizes[-1].turns} turns, {sizes[-1].faults} faults", flush=True)
    print("median", median(s.turns for s in sizes), median(s.faults for s in sizes))
