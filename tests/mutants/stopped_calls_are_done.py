"""The calls that a stop leaves over get a result so that the API takes the history: "Done."."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="After a stop the calls that never ran are told as done (Zoo-Code-Org/Zoo-Code#1716)",
    scenario="cancel/between-tools",
    killed_by="result_carried.invented",
)


class FillsIn(Loop):
    """Writes a result for each call that a stop leaves over."""

    def refusal_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult | None:
        """A result that reads like a success."""
        return ToolResult(call.id, "Done.") if self.is_cancelled() else None


def agent(brief: Brief) -> None:
    """The reference agent that closes what a stop leaves open."""
    build(brief, turn=FillsIn).run()
