"""An agent that lives through one clock fault, and what its history says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.core.history.events import Answered
from harness.core.scenario.scenario import FaultSpec, InboxItem, Limits, Scenario, ToolScript, Turn
from harness.runner import Run, run

HOUR_S = 3600
Seen = dict[str, Any]


def lived(
    agent: Callable[[Any], Any],
    kind: str,
    *,
    stream: bool = False,
    turns: int = 1,
    **knobs: Any,
) -> Run:
    """A run of two messages in virtual time, with a fault of this kind."""
    scenario = Scenario(
        name="clock",
        stream=stream,
        tools={"lock": ToolScript()},
        inbox=(InboxItem(id="m1", text="hello"), InboxItem(id="m2", text="again")),
        script=(Turn(say="Hello to you.", times="forever"),),
        faults=(FaultSpec(kind=f"clock.{kind}", **knobs),),
        limits=Limits(model_calls=200),
    )
    return run(scenario, agent)


def answers(done: Run) -> list[Answered]:
    """The answers of the model."""
    return [e for e in done.history.events if isinstance(e, Answered) and e.seam == "model"]


def fired(done: Run) -> int:
    """How often the fault struck."""
    return sum(len(e.faults) for e in done.history.events if isinstance(e, Answered))


def ask(client: Any, **more: Any) -> Any:
    """One request through the official client."""
    request: Any = [{"role": "user", "content": "hello"}]
    return client.messages.create(model="m", max_tokens=64, messages=request, **more)
