"""The result of the first child is given to the calls of all."""

from __future__ import annotations

from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.children_handled import play_telling

MUTANT = Mutant(
    breaks="turn",
    statement="Results are kept by tool, so each call gets the first one",
    scenario="result-of-a-child",
    killed_by="child_result.another",
)


def agent(brief: Brief) -> None:
    """The reference agent that knows one result."""

    first: list[str] = []

    def tell(call: ToolUse, result: ToolResult) -> ToolResult:
        first.append(result.text)
        return ToolResult(call.id, first[0], result.is_error)

    play_telling(brief, tell)
