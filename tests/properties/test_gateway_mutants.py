"""The property has teeth: each wrong gateway breaks it, and shrinks to a few messages.

The seed is fixed, so that a search takes the same way every time. What is found must be small
enough to read: that is what the tables of the strategies are for.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, find, settings

from harness.campaign.scenarios import scenarios
from harness.core.scenario import Scenario
from harness.runner import Run, run
from tests import mutants
from tests.properties.oracle import objections

SEARCH = settings(
    max_examples=300,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
MUTANTS = {name: (mutant, module) for name, mutant, module in mutants.every()}

LARGEST = {
    "positional_cursor": (2, 1),
    "positional_cursor_late": (1, 1),
    "no_projection": (1, 1),
    "delivers_twice": (0, 1),
    "answers_redelivery": (0, 2),
    "stores_late": (0, 1),
}
"""How many stored messages and how many inbound ones are enough to show each defect."""


@pytest.mark.parametrize("name", LARGEST)
def test_a_wrong_gateway_is_found_and_shrinks(name: str) -> None:
    mutant, module = MUTANTS[name]

    def play(scenario: Scenario) -> Run:
        return run(scenario, module.agent)

    def is_killed(scenario: Scenario) -> bool:
        found = play(scenario).verdict.findings
        return any(f.code == mutant.killed_by or f.check == mutant.killed_by for f in found)

    smallest = find(scenarios(), is_killed, settings=SEARCH, random=random.Random(0))
    stored, inbound = LARGEST[name]
    assert len(smallest.session.messages) <= stored
    assert len(smallest.inbox) <= inbound
    assert [turn.say for turn in smallest.script] == ["Done.", "They greeted each other."]
    assert objections(play(smallest).history.events, len(smallest.session.messages))
