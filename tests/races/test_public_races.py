"""Five public races: the agent of the story is red in some order, the corrected one in none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.agent import agent as reference
from harness.core.scenario.scenario import Scenario
from harness.files import load_scenarios
from harness.files.scenario_values import with_orders
from harness.runner import run
from tests.races.public_agents import PUBLIC
from tests.races.test_session_races import changed, codes, twin

pytestmark = pytest.mark.timeout(600)

FOLDER = Path(__file__).with_name("public")
each_story = pytest.mark.parametrize("name", PUBLIC)


def story(name: str) -> Scenario:
    """The scenario of a report, with choices."""
    (scenario,) = load_scenarios(FOLDER / f"{name}.yaml")
    return with_orders(scenario, {})


def test_each_scenario_has_its_agent_and_its_source() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(PUBLIC)
    assert all("#" in story(name).source[0] for name in PUBLIC)


@each_story
def test_the_agent_of_the_story_fails_in_some_order(name: str) -> None:
    scenario, agent = story(name), PUBLIC[name]
    first = run(scenario, agent)
    assert any(codes(played) for _, played in changed(agent, first, scenario))


@each_story
def test_the_corrected_agent_passes_in_each_order_of_two_changes(name: str) -> None:
    scenario, agent = story(name), twin(PUBLIC[name])
    first = run(scenario, agent)
    assert first.verdict.verdict == "pass", first.verdict
    for orders, played in changed(agent, first, scenario):
        assert codes(played) == set(), orders
        ordered = msgspec.structs.replace(scenario, orders=orders)
        for both, last in changed(agent, played, ordered):
            assert codes(last) == set(), both


@each_story
def test_the_reference_agent_passes(name: str) -> None:
    assert run(story(name), reference).verdict.verdict == "pass"
