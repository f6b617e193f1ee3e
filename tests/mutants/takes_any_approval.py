"""An answer about another call is taken for the answer about this one."""

from __future__ import annotations

from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="Answers are taken in their order, and not by their call (langgraph#6533)",
    scenario="allowed-payment/about-another-call",
    killed_by="approval.another",
)


def agent(brief: Brief) -> None:
    """The reference agent that asks once and compares no ids."""

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        assert loop.toolbox._ask is not None
        loop.toolbox._ask(call.name, call.input, id=call.id)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)
