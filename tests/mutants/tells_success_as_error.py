"""Each success is told as an error."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A success with the wrong flag makes the model do again what was done",
    scenario="what-the-tools-said/a-small-value",
    killed_by="result_carried.failed",
)


def _flagged(call: ToolUse, result: ToolResult) -> ToolResult:
    return ToolResult(call.id, result.content, is_error=True)


def agent(brief: Brief) -> None:
    """The reference agent that flags each result as an error."""
    play_with(brief, _flagged)
