"""A halt leaves the batch at once: what had run before it has no result in the history."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse, results
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="A halt inside a batch leaves calls without results (seeds 110, 122)",
    scenario="repeated-errors/beside-a-call-that-runs",
    killed_by="role_alternation.store",
)


class HaltsAtOnce(Loop):
    """Stores results only if the whole batch was carried out."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls until a guard ends the turn."""
        self.watch.begin_step()
        answered = []
        for place, call in enumerate(calls):
            answered.append(self.result_of(call, calls[:place]))
            if self.ended:
                return self.conclude(self.ended)
        self.transcript.append(results(*answered))
        return None


def agent(brief: Brief) -> None:
    """The reference agent that halts in the middle of a batch."""
    build(brief, turn=HaltsAtOnce).run()
