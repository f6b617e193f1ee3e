"""An agent that forgets its past at each start is found in each run in which an agent is killed."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests.catalogue.agents.resume import forgets_at_each_start
from tests.scenarios.all_runs import all_runs, tiers

KILLS = ("kill", "power_cut", "poison_message")

RUNS = [
    scenario
    for scenario in all_runs()
    if scenario.wire == "anthropic"
    if any(word in spec.kind for spec in scenario.faults for word in KILLS)
    if "sub_agents" not in scenario.needs  # this agent starts none, so nothing is killed there
    # Nothing was said yet that the killed turn could forget, or its rows name no session.
    if scenario.name not in ("asked-again-decided-otherwise", "woken-several-times")
]


@pytest.mark.parametrize("scenario", tiers(RUNS, [s for s in RUNS if not s.variant]))
def test_amnesia_after_a_kill_is_found(scenario: Scenario) -> None:
    played = run(scenario, forgets_at_each_start)
    classes = {finding.class_ for finding in played.verdict.findings}
    assert classes & {"defect", "weakness"}
