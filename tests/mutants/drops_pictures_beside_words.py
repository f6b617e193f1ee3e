"""Of a result with words and a picture, only the words go on, and nothing says so."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import Opaque, ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A screenshot beside a text never reaches the model (openclaw/openclaw#115521)",
    scenario="what-the-tools-said/a-picture-beside-words",
    killed_by="result_carried.part",
)


def _words(call: ToolUse, result: ToolResult) -> ToolResult:
    if isinstance(result.content, str):
        return result
    kept = tuple(block for block in result.content if not isinstance(block, Opaque))
    return ToolResult(call.id, kept or result.content, result.is_error)


def agent(brief: Brief) -> None:
    """The reference agent that knows results of words alone."""
    play_with(brief, _words)
