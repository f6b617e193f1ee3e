"""The hard stop is off: what the guards know is told to the model, and the calls run."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Decision, Proceed, Watch
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="watch",
    statement="Warned from the second failure on, it runs to the limit (seed 106, hermes 0.13.0)",
    scenario="identical-failures",
    killed_by="no_progress_stop.same_failure",
)


class WarnsOnly(Watch):
    """Guides, and never refuses."""

    def before(self, call: ToolUse) -> Decision:
        """Every call may run."""
        return Proceed()


def agent(brief: Brief) -> None:
    """The reference agent with warnings alone."""
    build(brief, watch=WarnsOnly).run()
