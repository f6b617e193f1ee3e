"""The first approval of a tool counts for all its later calls."""

from __future__ import annotations

from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.approvals_handled import play_asking

MUTANT = Mutant(
    breaks="turn",
    statement="An approval is kept for the tool, and not for its call (agent-framework#6851)",
    scenario="allowed-payment/two-at-once",
    killed_by="approval.not_asked",
)


def agent(brief: Brief) -> None:
    """The reference agent that takes the first `allow` for good."""
    allowed = set[str]()

    def take(loop: Loop, call: ToolUse) -> ToolResult:
        if call.name not in allowed:
            loop.toolbox.approved(call)
            allowed.add(call.name)
        return loop.watched(call, loop.toolbox.run(call))

    play_asking(brief, take)
