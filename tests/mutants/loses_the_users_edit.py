"""The user edits the input of a call, and the input of the model runs."""

from __future__ import annotations

from harness.agent.agent_loop import Loop
from harness.agent.toolbox import error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="The edited input is lost on the way (pydantic/pydantic-ai#3274)",
    scenario="allowed-payment",
    killed_by="approval.input",
)


def agent(brief: Brief) -> None:
    """The reference agent that takes a yes or a no from the answer, and nothing else."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        approval = loop.toolbox.approved(call)
        if approval.answer != "allow":
            return error_result(call, f"Not run: the user denied it. {approval.reason}")
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)
