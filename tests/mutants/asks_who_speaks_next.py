"""After each answer the agent asks itself who speaks next, and lets the model go on."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.messages import user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement='A loop answers "continue" itself after each answer (incident 74)',
    scenario="counter-reset-by-the-fallback/nobody-else-speaks",
    killed_by="answer_taken.same_words",
)


class Continuing(Loop):
    """Takes words for the beginning of an answer, up to `most` times a turn."""

    most = 12

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of the last answer; None for the ones before."""
        outcome = super().finish(answer)
        self.counts["continued"] += 1
        if outcome is None or self.counts["continued"] > self.most:
            return outcome
        self.transcript.append(answer.message)
        self.transcript.append(user("Please go on."))
        return None


class Checking(Continuing):
    """Asks for another answer twice, as a validator of outputs does."""

    most = 2


def agent(brief: Brief) -> None:
    """The reference agent that lets the model go on."""
    build(brief, turn=Continuing).run()


def look_alike(brief: Brief) -> None:
    """One whose validator asks for another form of the answer, twice."""
    build(brief, turn=Checking).run()
