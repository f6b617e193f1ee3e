"""A scenario that is written as a file and read again is the same scenario."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given

from harness.core.scenario.scenario import Scenario, Turn
from harness.files import find_scenarios, load_scenarios
from harness.files.scenario_text import scenario_yaml
from harness.strategies import scenarios

ROOT = Path(__file__).parents[2]


def _read(text: str, name: str) -> Scenario:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(text, "utf-8")
        (scenario,) = load_scenarios(path)
    return msgspec.structs.replace(scenario, folder="")


@given(scenarios(faults=("*",)))
def test_every_drawn_scenario_is_read_as_it_was_written(scenario: Scenario) -> None:
    assert _read(scenario_yaml(scenario), scenario.name) == scenario


@given(scenarios(wire="openai-chat", faults=("*",)))
def test_one_of_another_wire_too(scenario: Scenario) -> None:
    assert _read(scenario_yaml(scenario), scenario.name) == scenario


@pytest.mark.parametrize("path", find_scenarios([ROOT / "scenarios"])[::7], ids=lambda p: p.stem)
def test_a_scenario_of_a_file_loses_only_its_variant(path: Path) -> None:
    for scenario in load_scenarios(path):
        plain = msgspec.structs.replace(scenario, variant="", folder="")
        assert _read(scenario_yaml(scenario), scenario.name) == plain


def test_a_scenario_without_turns_has_a_script() -> None:
    assert scenario_yaml(Scenario(name="none")) == "name: none\nscript: []\n"
    assert "say: hello" in scenario_yaml(Scenario(name="one", script=(Turn(say="hello"),)))
