"""A call that timed out is told as not run, so the model asks for its effect again."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A tool that acted and never answered is told as not run",
    scenario="tool-never-returns",
    killed_by="result_carried.discarded",
)


def _denied(call: ToolUse, result: ToolResult) -> ToolResult:
    text = "Error: the call was not executed. You can make it again."
    return ToolResult(call.id, text, is_error=True) if result.is_error else result


def look_alike(brief: Brief) -> None:
    """The agent that says of a failed call that its outcome is unknown."""
    unsure = "Error: no answer came. Whether the call was executed is unknown."

    def changed(call: ToolUse, result: ToolResult) -> ToolResult:
        return ToolResult(call.id, unsure, is_error=True) if result.is_error else result

    play_with(brief, changed)


def agent(brief: Brief) -> None:
    """The reference agent that tells each failed call as not run."""
    play_with(brief, _denied)
