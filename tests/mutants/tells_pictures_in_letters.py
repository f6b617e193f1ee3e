"""The picture of a result goes on as the letters of its file."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A picture of a tool reaches the model as base64 text (anomalyco/opencode#28859)",
    scenario="what-the-tools-said/a-picture-beside-words",
    killed_by="result_carried.part",
)


def _letters(call: ToolUse, result: ToolResult) -> ToolResult:
    is_text = isinstance(result.content, str)
    return result if is_text else ToolResult(call.id, canonical(result.content), result.is_error)


def agent(brief: Brief) -> None:
    """The reference agent that writes the blocks of a result as JSON."""
    play_with(brief, _letters)
