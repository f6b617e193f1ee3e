"""A success of a tool clears what failed with other arguments too."""

from __future__ import annotations

from collections.abc import Hashable

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="A counter per tool is cleared by each success of it (seeds 8, 102, hermes #14059)",
    scenario="repeated-errors/behind-a-success-of-the-tool",
    killed_by="no_progress_stop.cycle",
)


class PerTool(Halt):
    """Counts by tool alone."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """The tool, without its arguments and error."""
        return call.name

    def succeeded(self, call: ToolUse) -> None:
        """Forget the failures of that tool."""
        del self.counts[call.name]


def agent(brief: Brief) -> None:
    """The reference agent with the counter per tool alone."""
    build(brief, guards=instead(PerTool)).run()
