"""The user is asked, and the call runs after any answer."""

from __future__ import annotations

from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="A denied call runs all the same (extra-org/extra#139)",
    scenario="denied-beside-a-free-call",
    killed_by="approval.denied",
)


def agent(brief: Brief) -> None:
    """The reference agent that asks and does not look at the answer."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        loop.toolbox.approved(call)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)
