"""Calls carried out under a guard, and what it decided of each, in words."""

from __future__ import annotations

from collections.abc import Iterable

from harness.agent.guards import Decision, Guard, Proceed, Watch
from harness.core.values.messages import Json, ToolResult, ToolSpec, ToolUse

WRITE = ToolSpec("write", input_schema={"type": "object", "required": ["path"]})
TICK = ToolSpec("tick", input_schema={"type": "object"})


def step(guard: Guard | Watch, *calls: tuple[str, Json, Json]) -> list[str]:
    """Carry out one batch of (tool, input, result); an error result is an exception.

    Each call's heaviest decision, in words.
    """
    guard.begin_step()
    words = []
    for name, given_input, said in calls:
        call = ToolUse("t", name, given_input)
        decision: Decision = guard.before(call)
        if isinstance(decision, Proceed):
            failed = isinstance(said, Exception)
            decision = guard.after(call, ToolResult("t", str(said), is_error=failed))
        words.append(type(decision).__name__)
    return words


def steps(guard: Guard | Watch, calls: Iterable[tuple[str, Json, Json]]) -> list[str]:
    """Carry out calls one by one."""
    return [word for call in calls for word in step(guard, call)]
