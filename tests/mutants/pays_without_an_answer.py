"""The channel to the user fails, and the call runs."""

from __future__ import annotations

from contextlib import suppress

from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="A question that fails counts as allowed (extra-org/extra#139)",
    scenario="answers-that-go-wrong",
    killed_by="approval.denied",
)


def agent(brief: Brief) -> None:
    """The reference agent that asks, and goes on after an error."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        assert loop.toolbox._ask is not None
        with suppress(TimeoutError):
            loop.toolbox._ask(call.name, call.input, id=call.id)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)
