"""The reference agent passes a sample of the catalogue over Gemini, which no scenario names.

This API has no pauses, so those runs are left out. Two runs that need more chunks than an answer
has here are left out too.
"""

from __future__ import annotations

import pytest

from harness.core.history.events import Called
from harness.core.scenario.scenario import Scenario
from harness.runner import run
from tests.scenarios.all_runs import on_wire, reference_for

pytestmark = pytest.mark.real

PAUSED = "paused-in-the-middle"
TOO_SHORT = (
    "silent-provider/for-ever@gemini+stream",
    "same-broken-answer-again/line-drops-in-it@gemini+stream",
)
RUNS = [s for s in on_wire("gemini") if s.name != PAUSED and s.run_name not in TOO_SHORT]


@pytest.mark.parametrize("scenario", RUNS[::16], ids=lambda s: s.run_name)
def test_reference_passes(scenario: Scenario) -> None:
    verdict = run(scenario, reference_for(scenario)).verdict
    assert [f"{f.code}: {f.message}" for f in verdict.findings] == []
    assert verdict.verdict in ("pass", "not_applicable")


def test_it_is_this_wire_that_is_spoken() -> None:
    scenario = next(s for s in RUNS if s.name == "identical-failures")
    history = run(scenario, reference_for(scenario)).history
    asked = [e for e in history.events if isinstance(e, Called) and e.seam == "model"]
    assert {event.provider for event in asked} == {"gemini"}
    assert {event.refused for event in asked} == {()}
