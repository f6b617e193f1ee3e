"""Each failure reads the same, with the flag of an error and nothing of the tool's words."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="Each error reads as one sentence, so the model cannot tell what to change",
    scenario="what-the-tools-said/beside-one-that-fails",
    killed_by="error_visible.reworded",
)


def _one_sentence(call: ToolUse, result: ToolResult) -> ToolResult:
    told = ToolResult(call.id, "This did not work.", is_error=True)
    return told if result.is_error else result


def agent(brief: Brief) -> None:
    """The reference agent that passes on no error's words."""
    play_with(brief, _one_sentence)
