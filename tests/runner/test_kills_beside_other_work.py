"""An agent that is killed while it waits has done what ran beside the wait, as a process has."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.core.history.events import Called, Killed
from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.values.calls import OutboxRequest
from harness.runner import run
from harness.targets import of_callable

STEPS = 50
"""The turns of the event loop that the work beside takes: more than a client needs to ask."""

SCENARIO = Scenario(
    name="killed",
    tools={"look": ToolScript(script=(ToolTurn(ok="seen", times="forever"),))},
    inbox=(InboxItem(text="hello"),),
    script=(Turn(say="Hello to you."),),
)


async def _keep(checkpoint: Path) -> None:
    for _ in range(STEPS):
        await asyncio.sleep(0)
    await asyncio.to_thread(checkpoint.write_text, "done")


async def _asks_the_model(brief: Any) -> None:
    said = {"role": "user", "content": "hello"}
    client = brief.async_anthropic(max_retries=0)
    await client.messages.create(model="m", max_tokens=9, messages=[said])


async def _calls_a_tool(brief: Any) -> None:
    await asyncio.to_thread(brief.tools[0].call, {})


@pytest.mark.parametrize(("seam", "waits"), [("model", _asks_the_model), ("tool", _calls_a_tool)])
def test_what_ran_beside_a_wait_is_done_before_the_kill(seam: Any, waits: Any) -> None:
    """LangGraph writes its checkpoint beside the next step."""

    async def agent(brief: Any) -> None:
        checkpoint = Path(brief.session_dir) / "checkpoint"
        for message in brief.inbox():
            if message.attempt == 1:
                await asyncio.gather(waits(brief), _keep(checkpoint))
            kept = "kept" if checkpoint.exists() else "lost"
            brief.send(f"The checkpoint is {kept}.", in_reply_to=message.id)

    fault = FaultSpec(kind="gateway.killed", on=seam)
    scenario = msgspec.structs.replace(SCENARIO, faults=(fault,))
    events = run(scenario, of_callable(agent)).history.events
    assert sum(isinstance(event, Killed) for event in events) == 1
    said = [e.request.text for e in events if isinstance(e, Called) and _is_said(e.request)]
    assert said == ["The checkpoint is kept."]


def _is_said(request: Any) -> bool:
    return isinstance(request, OutboxRequest)


@pytest.mark.parametrize("world", ["simulate", "supervise"])
def test_a_kill_comes_at_the_end_of_the_wait_that_it_cuts(world: Any) -> None:
    """A tool works for a second, and the agent is killed with its answer: the second has passed,
    and the next life begins after it."""
    scenario = msgspec.structs.replace(
        SCENARIO,
        policy="open",
        tools={"look": ToolScript(script=(ToolTurn(ok="seen", hang=1, times="forever"),))},
        faults=(FaultSpec(kind="gateway.killed", on="tool", settings={"at": "after"}),),
    )

    def agent(brief: Any) -> None:
        for message in brief.inbox():
            brief.tools[0].call({})
            brief.send("Seen.", in_reply_to=message.id)

    events = run(scenario, of_callable(agent), world=world).history.events
    killed = next(event for event in events if isinstance(event, Killed))
    first, again = (e for e in events if isinstance(e, Called) and e.seam == "tool")
    assert killed.at_ms - first.at_ms >= 1_000
    assert again.at_ms >= killed.at_ms
