"""A correct agent passes the catalogue under faults that no scenario knows of."""

from __future__ import annotations

import pytest

from harness.agent import agent
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.files.scenario_file import with_overlay
from harness.runner import run
from tests.mutants.blind_resend import agent as blind_resend
from tests.scenarios.all_runs import all_runs, is_of_the_seeds, named, tiers

OVERLAYS = {
    "overloaded": (FaultSpec(kind="http.status", settings={"status": 502}),),
    "rate-limit": (
        FaultSpec(kind="http.retry_after", when=2, settings={"retry_after": 2}, must_fire=False),
    ),
    "network": (
        FaultSpec(kind="transport.reset_before_headers", when=2, must_fire=False),
        FaultSpec(kind="http.server_error", when=4, must_fire=False),
    ),
}

PLAIN = [
    run
    for run in all_runs()
    if run.wire == "anthropic" and not (run.stream or run.variant or "sub_agents" in run.needs)
]
SAMPLE = [s for s in PLAIN if is_of_the_seeds(s)] + [s for s in PLAIN if not is_of_the_seeds(s)][
    ::12
]


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("scenario", tiers(SAMPLE, SAMPLE[::8]))
def test_reference_passes_under_an_overlay(scenario: Scenario, overlay: str) -> None:
    is_struck = any(fault.when == 1 for fault in scenario.faults)
    if overlay == "overloaded" and is_struck and scenario.expect.must_not.call:
        pytest.skip("the overlay answers the call for which the scenario forbids something")
    verdict = run(with_overlay(scenario, OVERLAYS[overlay], overlay), agent).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    if verdict.verdict != "pass":  # a tool of the agent's own, which this one has not
        assert verdict.verdict == run(scenario, agent).verdict.verdict == "not_applicable"


def test_a_wrong_agent_still_fails_under_an_overlay() -> None:
    scenario = with_overlay(named("prompt-too-long/another-error"), OVERLAYS["network"], "network")
    codes = [f.code for f in run(scenario, blind_resend).verdict.findings]
    assert "no_blind_resend.same_request" in codes


def test_a_fault_of_an_overlay_is_owed_and_one_of_the_scenario_is_not() -> None:
    never = FaultSpec(kind="http.server_error", when=40)
    scenario = with_overlay(named("prompt-too-long/another-error"), (never,), "never")
    assert [fault.must_fire for fault in scenario.faults] == [False] * (
        len(scenario.faults) - 1
    ) + [True]
    found = run(scenario, agent).verdict.findings
    assert [f.code for f in found] == ["run.silent_fault"]
