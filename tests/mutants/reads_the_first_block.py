"""Of a result of several blocks only the first is sent."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import Text, ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="The first block of a result stands for all of them (mastra-ai/mastra#10328)",
    scenario="what-the-tools-said/several-blocks",
    killed_by="result_carried.part",
)


def _first(call: ToolUse, result: ToolResult) -> ToolResult:
    texts = [b.text for b in result.content if isinstance(b, Text)]
    return ToolResult(call.id, texts[0]) if texts else result


def agent(brief: Brief) -> None:
    """The reference agent that reads one block of each result."""
    play_with(brief, _first)
