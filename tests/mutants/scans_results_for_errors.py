"""A result that has the word for a failure is flagged as an error, also where it counts none."""

from __future__ import annotations

import re

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import play_with

MUTANT = Mutant(
    breaks="tools",
    statement="A success that only mentions an error was a failure (edouard-claude/snip#182)",
    scenario="what-the-tools-said/a-success-that-counts-errors",
    killed_by="result_carried.failed",
)


def _flagged(call: ToolUse, result: ToolResult) -> ToolResult:
    is_error = result.is_error or re.search("error|fail", result.text, re.IGNORECASE) is not None
    return ToolResult(call.id, result.content, is_error=is_error)


def agent(brief: Brief) -> None:
    """The reference agent that looks for words of failure."""
    play_with(brief, _flagged)
