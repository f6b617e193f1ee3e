"""The reference agent passes every scenario over the Responses API too."""

from __future__ import annotations

import pytest

from harness.core.history.events import Called
from harness.core.history.history import canonical
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests.scenarios.all_runs import is_of_the_seeds, on_wire, reference_for, tiers

pytestmark = pytest.mark.real

RUNS = on_wire("openai-responses")
QUICK = [s for s in RUNS if not s.variant and is_of_the_seeds(s)]

BASELINES = [s for s in RUNS if not s.variant and is_of_the_seeds(s) and not s.faults]
"""One run of each file, streamed and not: a wire knows nothing of worlds."""


@pytest.mark.parametrize("scenario", tiers(RUNS, QUICK))
def test_reference_passes(scenario: Scenario) -> None:
    played = run(scenario, reference_for(scenario))
    assert [f"{f.code}: {f.message}" for f in played.verdict.findings] == []
    assert played.verdict.doubts == ()
    assert played.verdict.verdict == "pass"


@pytest.mark.parametrize("scenario", BASELINES, ids=lambda s: s.run_name)
def test_both_worlds_agree(scenario: Scenario) -> None:
    supervised = run(scenario, reference_for(scenario), world="supervise")
    if supervised.verdict.verdict == "not_applicable":
        assert supervised.verdict.not_applicable[0].reason.startswith("needs virtual time")
        return
    simulated = run(scenario, reference_for(scenario))
    assert supervised.verdict.verdict == simulated.verdict.verdict == "pass"
    assert canonical(supervised.history) == canonical(simulated.history)


def test_it_is_this_wire_that_is_spoken() -> None:
    scenario = next(s for s in RUNS if s.run_name == "identical-failures@openai-responses")
    history = run(scenario, reference_for(scenario)).history
    asked = [e for e in history.events if isinstance(e, Called) and e.seam == "model"]
    assert asked
    assert {event.refused for event in asked} == {()}
    assert history.events[0].wire == "openai-responses"  # type: ignore[union-attr]
