"""A result is told as unchanged when it is as long as the one that the same call gave before."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A marker stands for a text that has changed since (rossoctl/context-guru#281)",
    scenario="what-the-tools-said/read-again-after-a-change",
    killed_by="result_carried.replaced",
)


def agent(brief: Brief) -> None:
    """The reference agent that saves tokens where the lengths are equal."""
    lengths: dict[str, int] = {}

    def marked(call: ToolUse, result: ToolResult) -> ToolResult:
        key = canonical([call.name, call.input])
        is_known = lengths.get(key) == len(result.text)
        lengths[key] = len(result.text)
        text = "[Unchanged since you last read it.]"
        return ToolResult(call.id, text) if is_known and not result.is_error else result

    play_with(brief, marked)
