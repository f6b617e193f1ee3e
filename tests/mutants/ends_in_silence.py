"""A turn ends as a success with an empty text: after an empty answer, and after a stopped loop."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.models.model_call import ModelAnswer
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.messages import assistant
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="The program prints nothing, gives no reason and ends with status 0 (fault M1)",
    scenario="codex-empty-answer-succeeds@openai-responses+stream",
    killed_by="truthful_outcome.empty",
)


class Silent(Loop):
    """Says nothing where there is nothing good to say."""

    def finish(self, answer: ModelAnswer) -> Outcome | None:
        """The outcome of an answer without calls."""
        is_said = bool(answer.message.text.strip())
        return super().finish(answer) if is_said else Outcome("ok", assistant(""))

    def conclude(self, reason: str) -> Outcome:
        """The outcome of a turn that was stopped."""
        return Outcome("ok", assistant(""))


def agent(brief: Brief) -> None:
    """The reference agent that ends in silence."""
    build(brief, turn=Silent).run()
