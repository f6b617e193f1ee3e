"""A stop is looked for before each request, and not between the tools of one answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="A stop during the first of two long tools is not seen: the second one runs",
    scenario="cancel/between-slow-tools",
    killed_by="cancel_honoured.unseen",
)


class LooksOnceAnAnswer(Loop):
    """Looks for no stop while the calls of an answer run."""

    def execute(self, calls: Sequence[ToolUse]) -> Outcome | None:
        """Run the calls, and look away meanwhile."""
        looks, self.is_cancelled = self.is_cancelled, lambda: False
        try:
            return super().execute(calls)
        finally:
            self.is_cancelled = looks


def agent(brief: Brief) -> None:
    """The reference agent that does not look between two tools."""
    build(brief, turn=LooksOnceAnAnswer).run()
