"""A child that did not finish is told as one that did."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.children_handled import play_telling

MUTANT = Mutant(
    breaks="turn",
    statement="A stuck child counts as completed (software-agent-sdk #3703, claude-code #73372)",
    scenario="child-that-does-not-finish/fails",
    killed_by="child_result.told_as_done",
)


def agent(brief: Brief) -> None:
    """The reference agent whose children always succeed."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, "Task completed." if result.is_error else result.text)

    play_telling(brief, tell)


def look_alike(brief: Brief) -> None:
    """The reference agent that tells of a failed child in words alone."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        told = f"It did not get there: {result.text}" if result.is_error else result.text
        return ToolResult(call.id, told)

    play_telling(brief, tell)
