"""A history that ends with an answer is taken for a turn that was cut off."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.messages import user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="A plugin said 'continue' thirty times, for the last word was the assistant's (98)",
    scenario="continue-from-where",
    killed_by="reload_equivalence.duplicate",
)


class Restless(Loop):
    """Goes on once it has an answer."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """Take the answer for half of one, thirty times."""
        self.counts["continued"] += 1
        if self.counts["continued"] > 30:
            return super().finish(answer)
        self.transcript.append(answer.message)
        self.transcript.append(user("continue from previous state"))
        return None


def agent(brief: Brief) -> None:
    """The reference agent that never rests."""
    build(brief, turn=Restless).run()
