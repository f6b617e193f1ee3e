"""Guards: pure state machines that watch the tool calls of one turn.

A guard answers with a decision and does nothing else, so it serves in any tool loop. First comes
guidance (the model may not know what it does wrong), then refusal (the call is not run), then the
end of the turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.guards.empty_input_guard import EmptyInputGuard
from harness.agent.guards.guard_protocol import (
    Decision,
    EndTurn,
    Guard,
    Guide,
    Proceed,
    Refuse,
    Watch,
    needed_by,
)
from harness.agent.guards.identical_failure_guard import IdenticalFailureGuard
from harness.agent.guards.repeat_guard import RepeatGuard
from harness.core.values.messages import ToolSpec

__all__ = [
    "Decision",
    "EmptyInputGuard",
    "EndTurn",
    "Guard",
    "Guide",
    "IdenticalFailureGuard",
    "Proceed",
    "Refuse",
    "RepeatGuard",
    "Watch",
    "standard_guards",
]


def standard_guards(tools: Sequence[ToolSpec]) -> tuple[Guard, ...]:
    """The guards of the reference agent for one turn with these tools."""
    return (EmptyInputGuard(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())
