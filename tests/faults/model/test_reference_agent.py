"""The reference agent survives any answer of a model, once and always, streamed and not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.agent import agent
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.faults import faults
from harness.runner import run
from tests.faults.surviving import TOOLS, survive

FAILING = {**TOOLS, "write": ToolScript(script=(ToolTurn(error="disk full", times="forever"),))}
GONE = Session(
    messages=(
        SeedMessage(role="user", content="Look it up."),
        SeedMessage(
            role="assistant",
            content=({"type": "tool_use", "id": "toolu_0", "name": "gone", "input": {}},),
        ),
        SeedMessage(
            role="user", content=({"type": "tool_result", "id": "toolu_0", "content": "found"},)
        ),
        SeedMessage(role="assistant", content="I found it."),
    )
)

NEEDS: dict[str, dict[str, Any]] = {
    "model.calls_after_final": {"when": 4},
    "model.failed_call_again": {"fields": {"tools": FAILING}},
    "model.removed_tool": {"fields": {"session": GONE}},
    "model.changing_result": {"when": 1},
}
"""What a fault needs to strike at all."""

MET = [
    (kind, wire)
    for kind, fault in faults().items()
    for wire in fault.wires or ("anthropic", "openai-chat", "openai-responses")
    if kind.startswith("model.")
]
LONG = {"model.endless_new_calls", "model.varying_arguments", "model.huge_text"}
"""What goes on for fifty calls, or is large: on one wire it is enough."""


WAYS = [
    pytest.param(
        *(kind, wire, stream),
        id=f"{kind}-{wire}-{'stream' if stream else 'plain'}",
        marks=() if stream == bool(place % 2) else (pytest.mark.real,),
    )
    for place, (kind, wire) in enumerate(MET)
    if wire == "anthropic" or kind not in LONG
    for stream in (True, False)
]
"""Each fault on each wire; one way of the two is in the fast tier."""


@pytest.mark.parametrize("often", ["once", pytest.param("forever", marks=pytest.mark.real)])
@pytest.mark.parametrize(("kind", "wire", "stream"), WAYS)
def test_the_reference_agent_survives(kind: str, wire: str, often: str, stream: bool) -> None:
    settings = {"size_bytes": 1_000_000} if kind == "model.huge_text" else {}
    needs = dict(NEEDS.get(kind, {}))
    fields = {"wire": wire, **needs.pop("fields", {})}
    found = survive(kind, stream=stream, often=often, settings=settings, fields=fields, **needs)
    assert found == []


@pytest.mark.parametrize("kind", ["model.empty_object_where_none_needed", "model.empty_input"])
def test_a_call_that_is_bent_keeps_its_id(kind: str) -> None:
    """Two calls with one id would be one call, which an agent runs once."""
    both = Turn(blocks=({"type": "tool_use", "name": "write", "input": {}},) * 2)
    scenario = Scenario(
        name="both", inbox=(InboxItem(text="Go on."),), tools=TOOLS,
        script=(both, Turn(say="a", times="forever")), faults=(FaultSpec(kind=kind, when=1),),
    )  # fmt: skip
    asks = run(scenario, agent).history.trace.turns["main", 1].asks
    assert len({ask.use.id for ask in asks}) == 2
