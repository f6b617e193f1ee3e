"""A denied call has a result that does not say why it did not run."""

from __future__ import annotations

from harness.agent.agent_loop import Loop
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="The model does not learn why its call was denied (demands, row 4)",
    scenario="denied-beside-a-free-call",
    killed_by="approval.untold",
)


def agent(brief: Brief) -> None:
    """The reference agent that tells the model of an interruption."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        if loop.toolbox.approved(call).answer == "allow":
            return loop.watched(call, loop.toolbox.run(call))
        return error_result(call, "Interrupted.")

    play_asking(brief, take)
