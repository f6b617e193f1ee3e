"""The reference agent in a scenario with one fault, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from harness.agent import agent
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Limits,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.runner import run
from tests.faults.asking import CALL

TOOLS = {
    "write": ToolScript(
        input_schema={
            "type": "object",
            "properties": {"path": {"type": "string"}, "size": {"type": "integer"}},
            "required": ["path"],
        },
        script=(ToolTurn(ok="written", times="forever"),),
    ),
    "ping": ToolScript(),
    "task": ToolScript(),
}

SCRIPT = (
    Turn(say="I will write it, wörld.", use="write", input=CALL, optional=True),
    Turn(
        say="Now again, wörld.",
        use="write",
        input={"path": "/c", "size": 77, "lines": ["z"]},
        optional=True,
    ),
    Turn(say="Both are written.", times="forever", optional=True),
    Turn(say="They asked for two files.", times="forever", optional=True, purpose="compact"),
)
"""Two calls and an answer, which is given as often as it is asked for."""


def survive(
    kind: str, *, stream: bool = True, fields: dict[str, Any] | None = None, **knobs: Any
) -> list[str]:
    """The findings, and doubts, of the reference agent where this fault strikes; `silent` first
    when the fault did not fire."""
    spec = FaultSpec(kind=kind, **{"when": 2, "must_fire": False, **knobs})
    usual: dict[str, Any] = {
        "tools": TOOLS,
        "inbox": (InboxItem(id="m1", text="Write two files."), InboxItem(id="m2", text="And now?")),
        "script": SCRIPT,
        "limits": Limits(model_calls=200, tool_calls=400),
    }
    scenario = Scenario(name="survives", stream=stream, faults=(spec,), **usual | (fields or {}))
    done = run(scenario, agent)
    verdict = done.verdict
    struck = any(getattr(event, "faults", ()) for event in done.history.events)
    found = [f"{f.code}: {f.message}" for f in verdict.findings]
    return [*([] if struck else ["silent"]), *found, *map(str, verdict.doubts)]


def tiers_of(knobs: Sequence[dict[str, Any]]) -> list[ParameterSet]:
    """Knobs as parameters; all but the first, which is once, are of the slow tier."""
    return [
        pytest.param(k, marks=(pytest.mark.real,) if place else (), id=str(k or "once"))
        for place, k in enumerate(knobs)
    ]
