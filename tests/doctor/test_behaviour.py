"""The doctor tells the four policies apart, and an agent that has none."""

from __future__ import annotations

import pytest

from harness.core.values.profile import Profile
from harness.doctor.behaviour import inbound_policy, observation
from tests.doctor.agents import agent_with
from tests.doctor.test_examination import examined, row


@pytest.mark.parametrize("policy", ["queue", "steer", "interrupt", "collect"])
def test_what_an_agent_does_with_a_message_in_mid_turn(policy: str) -> None:
    found = examined(f"reference?inbound={policy}")
    assert row(found, "messages in mid-turn").what.endswith(f": {policy}")
    assert found.profile.inbound == policy
    assert [probe.name for probe in found.probes if probe.verdict.findings] == (
        [] if policy == "queue" else ["mid-turn"]
    )
    assert {probe.scenario.profile.inbound for probe in found.probes[-8:]} == {policy}


def test_an_agent_that_asks_for_each_message_has_no_policy() -> None:
    found = examined(agent_with())
    seen = row(found, "messages in mid-turn")
    assert (seen.state, found.profile.inbound) == ("not seen", None)
    assert "before its turn has ended" in seen.what
    assert {probe.scenario.profile.inbound for probe in found.probes[-8:]} == {None}


def test_a_policy_that_is_known_is_kept() -> None:
    known = Profile(wires=("anthropic",), inbound="steer")
    found = examined("reference?inbound=interrupt", known)
    assert found.profile.inbound == "steer"
    assert row(found, "messages in mid-turn").what.endswith(": interrupt")


def test_a_probe_in_which_no_tool_ran_shows_nothing() -> None:
    found = examined(agent_with())
    greeting = next(probe for probe in found.probes if probe.name == "greeting")
    assert inbound_policy(greeting) is None
    assert observation(None).state == "not reached"
