from __future__ import annotations

import msgspec

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.plans import Answer, Plan, ToolAnswer
from harness.runner import run
from tests.faults.world import bend

DONE: Plan = (Answer(ToolAnswer("done")),)


def test_changing_result_says_how_far_it_is() -> None:
    assert bend("model.changing_result", DONE, seam="tool", polls=5) == (
        Answer(ToolAnswer("pending: 1 of 6")),
    )
    assert bend("model.changing_result", DONE, seam="model") == DONE


def test_changing_result_ends_and_an_agent_that_polls_is_not_stopped() -> None:
    from harness.agent import agent

    scenario = Scenario(
        name="polls",
        inbox=(InboxItem(id="m1", text="Wait for the job."),),
        tools={"poll": ToolScript(script=(ToolTurn(ok="done", times="forever"),))},
        script=(Turn(use="poll", times=9), Turn(say="The job is done.")),
        faults=(FaultSpec(kind="model.changing_result", often="forever", settings={"polls": 8}),),
    )
    done = run(scenario, agent)
    results = [
        msgspec.to_builtins(event).get("value", {}).get("content")
        for event in done.history.events
        if getattr(event, "seam", "") == "tool" and hasattr(event, "faults")
    ]
    assert results == [*(f"pending: {n} of 9" for n in range(1, 9)), "done"]
    assert done.verdict.findings == ()
