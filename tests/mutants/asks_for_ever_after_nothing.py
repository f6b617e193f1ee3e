"""Each empty answer is followed by the same request, with no count and no hint."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome, answered
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="An empty reply is asked for again up to the cap (incident 111)",
    scenario="nothing-said-forty-times",
    killed_by="no_blind_resend",
)


class Asking(Loop):
    """Takes nothing for an answer that is still to come."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of an answer without calls; None when it was empty."""
        self.check()
        return answered(answer.message, answer.stop)


def agent(brief: Brief) -> None:
    """The reference agent that asks until something is said."""
    build(brief, turn=Asking).run()
