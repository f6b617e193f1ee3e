"""A refused call has no result, so nothing counts it: it is refused until the budget is gone."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Decision, EndTurn, Refuse, Watch
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="watch",
    statement="Blocked calls are not counted towards any limit (seed 113, hermes #96579)",
    scenario="identical-failures",
    killed_by="no_progress_stop.refusals",
)


class RefusesForever(Watch):
    """Refuses, and leaves it at that."""

    def before(self, call: ToolUse) -> Decision:
        """A refusal in place of the end of the turn."""
        decision = super().before(call)
        return Refuse(decision.text) if isinstance(decision, EndTurn) else decision


def agent(brief: Brief) -> None:
    """The reference agent that only ever refuses."""
    build(brief, watch=RefusesForever).run()
