"""Guards: pure state machines that watch the tool calls of one turn, in any tool loop.

A guard first gives guidance, then refuses the call, then ends the turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.guards.empty_input_guard import EmptyInputGuard as EmptyInputGuard
from harness.agent.guards.guard_protocol import Decision as Decision
from harness.agent.guards.guard_protocol import EndTurn as EndTurn
from harness.agent.guards.guard_protocol import Guard as Guard
from harness.agent.guards.guard_protocol import Guide as Guide
from harness.agent.guards.guard_protocol import Proceed as Proceed
from harness.agent.guards.guard_protocol import Refuse as Refuse
from harness.agent.guards.guard_protocol import Watch as Watch
from harness.agent.guards.guard_protocol import needed_by
from harness.agent.guards.identical_failure_guard import (
    IdenticalFailureGuard as IdenticalFailureGuard,
)
from harness.agent.guards.repeat_guard import RepeatGuard as RepeatGuard
from harness.core.values.messages import ToolSpec


def standard_guards(tools: Sequence[ToolSpec]) -> tuple[Guard, ...]:
    """The guards of the reference agent for one turn with these tools."""
    return (EmptyInputGuard(needed_by(tools)), IdenticalFailureGuard(), RepeatGuard())
