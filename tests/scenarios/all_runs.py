"""The runs of the shipped scenarios, for parametrised tests."""

from __future__ import annotations

from pathlib import Path

from harness.core.scenario import Scenario
from harness.load import find_scenarios, load_scenarios

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"


def all_runs() -> list[Scenario]:
    """Every variant of every scenario, streamed and not."""
    return [s for file in find_scenarios([SCENARIOS]) for s in load_scenarios(file)]


def named(name: str) -> Scenario:
    """The run of that name."""
    return next(s for s in all_runs() if s.run_name == name)
