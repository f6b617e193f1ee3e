"""The words of a child are cut, and nothing says so."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.children_handled import play_telling

MUTANT = Mutant(
    breaks="turn",
    statement="A parent reads the first 100 characters of a child (earendil-works/pi#4710)",
    scenario="result-of-a-child",
    killed_by="child_result.part",
)


def agent(brief: Brief) -> None:
    """The reference agent that cuts what its children say."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, result.text[:100], result.is_error)

    play_telling(brief, tell)


def look_alike(brief: Brief) -> None:
    """The reference agent that cuts what its children say, and says so."""

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, f"{result.text[:100]} [cut]", result.is_error)

    play_telling(brief, tell)
