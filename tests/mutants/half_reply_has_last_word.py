"""What came of a broken reply is kept as a message before the request is made again."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.failures import ModelFailure
from harness.core.values.brief import Brief
from harness.core.values.messages import assistant
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="A request ends with the assistant, as newer models refuse (incidents 33, 34)",
    scenario="reply-before-a-retry+stream",
    killed_by="ends_with_user.assistant",
)


class Keeping(Loop):
    """Wants the model to go on where it was."""

    def recover(self, failure: ModelFailure, times: int) -> None:
        """Try again, behind what was said."""
        super().recover(failure, times)
        self.transcript.append(assistant("Ada is"))


def agent(brief: Brief) -> None:
    """The reference agent that goes on with half a reply."""
    build(brief, turn=Keeping).run()
