"""The runs of the shipped scenarios, for parametrised tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from harness.core.scenario.scenario import Scenario
from harness.faults import faults
from harness.files import find_scenarios, load_scenarios
from tests.scenarios.reference_targets import reference_for as reference_for

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"


CUT_TO_SIZE = {"prompt-too-long/all-attempts-fail"}
"""Their window fits the size of the requests on their own wire."""


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


def on_wire(wire: str) -> list[Scenario]:
    """The runs on Anthropic's wire, as they would be on another that their file does not name."""
    theirs = {scenario.name for scenario in all_runs() if scenario.wire == wire}
    return [
        msgspec.structs.replace(scenario, wire=wire, dialect="")
        for scenario in all_runs()
        if scenario.wire == "anthropic" and scenario.name not in theirs
        if scenario.run_name.removesuffix("+stream") not in CUT_TO_SIZE
        if all(_is_on(spec.kind, wire) for spec in scenario.faults)
    ]


def _is_on(kind: str, wire: str) -> bool:
    wires = faults()[kind].wires
    return not wires or wire in wires


def tiers(runs: list[Scenario], fast: list[Scenario]) -> list[ParameterSet]:
    """Runs as parameters: those that are not among the fast ones are of the slow tier."""
    quick = {scenario.run_name for scenario in fast}
    return [
        pytest.param(
            scenario,
            id=scenario.run_name,
            marks=() if scenario.run_name in quick else (pytest.mark.real,),
        )
        for scenario in runs
    ]
