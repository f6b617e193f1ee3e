"""A picture that the provider refused stays in each later request."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.failures import ModelFailure
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="Each message is refused for the same picture (anthropics/claude-code#15478)",
    scenario="refused-picture",
    killed_by="no_blind_resend.same_content",
)


class Keeping(Loop):
    """A loop that takes a refused picture for a refused request."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """End the turn, and leave the history as it is."""
        if failure.kind == "picture":
            raise failure
        super().recover(failure, times)


def agent(brief: Brief) -> None:
    """The reference agent that keeps each picture."""
    build(brief, turn=Keeping).run()
