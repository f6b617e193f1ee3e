"""A result that says nothing is counted as a failure: a search without hits ends the turn."""

from __future__ import annotations

from collections.abc import Hashable

from harness.agent import build
from harness.agent.conversation.projection import NO_TEXT
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="Empty results and grep's exit 1 count as failures (seed 103, hermes #64927)",
    scenario="circles/no-hits",
    killed_by="no_false_stop",
)
_NOTHING = frozenset({"", NO_TEXT, "[]", "{}", "null", "no matches"})


class NothingIsFailure(Halt):
    """Counts by tool, and nothing as a failure."""

    def failed(self, result: ToolResult) -> bool:
        """Whether it failed, or found nothing."""
        return result.is_error or result.text.strip() in _NOTHING

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool."""
        return call.name


def agent(brief: Brief) -> None:
    """The reference agent that takes nothing for a failure."""
    build(brief, guards=instead(NothingIsFailure)).run()
