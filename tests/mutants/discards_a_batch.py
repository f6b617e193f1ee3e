"""After one failed call, the results of all later calls are thrown away."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A batch is told as not run because one call of it failed",
    scenario="what-the-tools-said/beside-one-that-fails",
    killed_by="result_carried.discarded",
)


def agent(brief: Brief) -> None:
    """The reference agent that discards what ran beside a failed call."""
    failed = list[str]()

    def discarded(call: ToolUse, result: ToolResult) -> ToolResult:
        if result.is_error:
            failed.append(call.id)
        elif failed:
            return ToolResult(call.id, "Not run, because another call failed.", is_error=True)
        return result

    play_with(brief, discarded)
