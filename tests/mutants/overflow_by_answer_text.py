"""The phrase is looked for in the answer itself."""

from __future__ import annotations

from harness.agent.models.failures import OVERFLOW_PHRASES, ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="An answer that quotes the provider is taken for a context error (AutoGPT #12625)",
    scenario="overflow-lookalikes/in-the-answer",
    killed_by="expect.outcome",
)


class Suspicious(SecondModel):
    """Takes an answer that quotes the error for the error."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Fail on the phrase."""
        text = answer.message.text.lower()
        if any(phrase in text for phrase in OVERFLOW_PHRASES):
            raise ModelFailure("overflow", text)
        return answer


def agent(brief: Brief) -> None:
    """The reference agent that mistrusts quotations."""
    build_with(Suspicious, brief)
