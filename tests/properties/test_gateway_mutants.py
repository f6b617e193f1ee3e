"""The property has teeth: each wrong gateway breaks it, and shrinks to a few messages.

The seed is fixed, so that a search takes the same way every time. What is found must be small
enough to read: that is what the tables of the strategies are for.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from harness.campaign.scenarios import scenarios
from harness.campaign.scripts import LAST, SUMMARY
from harness.core.scenario import Scenario
from harness.runner import Run, run
from tests import mutants
from tests.properties.oracle import objections

SEARCH = settings(
    max_examples=300,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
"""Without the phase that explains a failure: it plays the smallest scenario hundreds of times."""

MUTANTS = {name: (mutant, module) for name, mutant, module in mutants.every()}

FOUND = (
    "positional_cursor",
    "positional_cursor_late",
    "no_projection",
    "delivers_twice",
    "answers_redelivery",
    "stores_late",
)


@pytest.mark.parametrize("name", FOUND)
def test_a_wrong_gateway_is_found_and_shrinks(name: str) -> None:
    mutant, module = MUTANTS[name]

    def play(scenario: Scenario) -> Run:
        return run(scenario, module.agent)

    def is_killed(scenario: Scenario) -> bool:
        found = play(scenario).verdict.findings
        return any(f.code == mutant.killed_by or f.check == mutant.killed_by for f in found)

    smallest = find(scenarios(), is_killed, settings=SEARCH, random=random.Random(0))
    assert len(smallest.session.messages) <= 3
    assert len(smallest.inbox) <= 2
    assert smallest.script == (LAST, SUMMARY)
    assert objections(play(smallest).history.events, len(smallest.session.messages))
