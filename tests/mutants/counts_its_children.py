"""Each child is told by whether it succeeded, and not by what it said."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.children_handled import play_telling

MUTANT = Mutant(
    breaks="turn",
    statement="A parent reads 1/1 succeeded in place of its child's words (pi-subagents #25)",
    scenario="result-of-a-child",
    killed_by="child_result.lost",
)


def agent(brief: Brief) -> None:
    """The reference agent whose children leave a number."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, "0/1 succeeded" if result.is_error else "1/1 succeeded")

    play_telling(brief, tell)
