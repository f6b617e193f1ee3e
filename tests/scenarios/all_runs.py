"""The runs of the shipped scenarios, for parametrised tests."""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from harness.core.scenario.scenario import Scenario
from harness.files import find_scenarios, load_scenarios
from tests.scenarios.reference_targets import reference_for as reference_for

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"


@cache
def runs_of(file: Path) -> tuple[Scenario, ...]:
    """Every variant in a file. The catalogue takes 1 s to load, in each process."""
    return tuple(load_scenarios(file))


@cache
def all_runs() -> tuple[Scenario, ...]:
    """Every variant of every scenario, on each of its wires, streamed and not."""
    return tuple(s for file in find_scenarios([SCENARIOS]) for s in runs_of(file))


@cache
def _by_name() -> dict[str, Scenario]:
    return {scenario.run_name: scenario for scenario in all_runs()}


def named(name: str) -> Scenario:
    """The run of that name."""
    return _by_name()[name]


def is_of_the_seeds(scenario: Scenario) -> bool:
    """Whether it plays what happened to one of the two systems with which this began."""
    return any(source.startswith("seed:") for source in scenario.source)


def tiers(
    runs: list[Scenario], fast: list[Scenario], nightly: Container[str] = ()
) -> list[ParameterSet]:
    """Runs as parameters: those that are not among the fast ones are of the slow tier."""
    quick = {scenario.run_name for scenario in fast}
    slow, late = (pytest.mark.real,), (pytest.mark.real, pytest.mark.nightly)
    return [
        pytest.param(
            scenario,
            id=scenario.run_name,
            marks=()
            if scenario.run_name in quick
            else late
            if scenario.run_name in nightly
            else slow,
        )
        for scenario in runs
    ]
