"""The right agent with a reader passes where its wrong forms are found, under each policy."""

from __future__ import annotations

from typing import get_args

import pytest

from harness.core.scenario.scenario import Scenario
from harness.core.values.profile import InboundPolicy
from harness.runner import run
from harness.targets import TargetSpec
from tests.catalogue.agents.mid_turn import (
    answers_it_twice,
    clears_at_a_failure,
    newest_first,
    right,
)
from tests.scenarios.all_runs import SCENARIOS, runs_of

FILES = sorted((SCENARIOS / "mid-turn").glob("*.yaml"))
RUNS = [
    s for file in FILES for s in runs_of(file) if {item.session for item in s.inbox} == {"main"}
]


@pytest.mark.parametrize("policy", get_args(InboundPolicy))
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(
            s, id=s.run_name, marks=() if s.variant == "in-the-answer" else pytest.mark.real
        )
        for s in RUNS
    ],
)
def test_a_right_agent_passes(policy: InboundPolicy, scenario: Scenario) -> None:
    verdict = run(scenario, right(policy)).verdict
    assert (verdict.verdict, [finding.code for finding in verdict.findings]) == ("pass", [])


@pytest.mark.parametrize(
    ("agent", "codes"),
    [
        (answers_it_twice, ["inbound_exactly_once.twice", "outbound_once.twice"]),
        (newest_first, ["inbound_exactly_once.early"] + ["inbound_exactly_once.order"] * 2),
    ],
    ids=["twice", "order"],
)
def test_a_message_in_place_of_another_is_told_alone(agent: TargetSpec, codes: list[str]) -> None:
    """A message that the model gets later is not lost as well."""
    several = next(s for s in RUNS if s.run_name == "message-in-mid-turn/two-of-them")
    assert [finding.code for finding in run(several, agent).verdict.findings] == codes


def test_what_waits_is_lost_with_a_turn_that_fails() -> None:
    failing = next(scenario for scenario in RUNS if scenario.name == "message-before-a-failure")
    found = run(failing, clears_at_a_failure).verdict.findings
    assert found[0].code == "inbound_exactly_once.lost"
