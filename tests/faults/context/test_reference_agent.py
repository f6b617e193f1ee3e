"""The reference agent survives every context fault, once and always."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import agent as reference
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    Turn,
    When,
)
from harness.faults import faults
from harness.runner import Run, run

CONTEXT = [kind for kind in faults() if kind.startswith("context.")]
TOO_LONG = FaultSpec(kind="context.prompt_too_long")
PAUSES = FaultSpec(kind="model.pause_turn")

BEFORE: dict[str, FaultSpec] = {
    **{kind: TOO_LONG for kind in CONTEXT if ".summary_" in kind or ".compaction_" in kind},
    "context.too_long_after_compaction": TOO_LONG,
    "context.too_long_while_open": PAUSES,
}
"""What has to happen before the fault can."""

AGAIN: dict[str, Any] = {"optional": True, "times": "forever"}
SETTINGS = {"context.window_shrinks": {"window_tokens": 150}}

SESSION = Session(
    messages=(
        SeedMessage(
            role="user",
            content="We are four and would like to see Oslo in the spring, with the ships, the "
            "fortress, the old town and the islands, and one free day. In which order? " * 4,
        ),
        SeedMessage(
            role="assistant",
            content="Day one: the old town and the fortress. Day two: the ships. Day three: the "
            "boat to the islands, or the museums. Day four is yours; book the hotel. " * 4,
        ),
        SeedMessage(role="user", content="And the hotel?"),
        SeedMessage(role="assistant", content="The one at the harbour has four beds free."),
    )
)


def _told(kind: str, often: str) -> Run:
    """Two turns on a conversation that is worth a summary, with a tool in the first."""
    before = (BEFORE[kind],) if kind in BEFORE else ()
    bent = FaultSpec(kind=kind, when=When(after=0), often=often, settings=SETTINGS.get(kind, {}))
    scenario = Scenario(
        name="oslo",
        stream="stream" in kind,
        session=SESSION,
        tools={"look": ToolScript()},
        inbox=(InboxItem(text="Which day is free?"), InboxItem(text="Are you sure?")),
        script=(
            Turn(purpose="compact", say="Four people plan Oslo; day four is free.", **AGAIN),
            Turn(use="look", input={}, optional=True),
            Turn(say="Day four is free.", **AGAIN),
        ),
        faults=(*before, bent),
    )
    return run(scenario, reference)


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize("kind", CONTEXT)
def test_the_reference_agent_survives(kind: str, often: str) -> None:
    verdict = _told(kind, often).verdict
    assert [finding.code for finding in verdict.findings] == []
    assert verdict.doubts == ()


@pytest.mark.parametrize("kind", [k for k in CONTEXT if k.startswith("context.summary_")])
def test_a_summary_that_is_none_costs_no_turn(kind: str) -> None:
    assert _told(kind, "once").verdict.outcome == "completed"
