"""The phrase is searched in the whole conversation."""

from __future__ import annotations

from harness.agent.models.failures import OVERFLOW_PHRASES, ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import canonical
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A tool result or a question with the phrase escalates (AutoGPT #12625)",
    scenario="overflow-lookalikes/in-a-tool-result",
    killed_by="expect.outcome",
)


class Suspicious(SecondModel):
    """Takes a message that quotes the error for the error."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """Fail on the phrase in the newest message."""
        text = canonical(query.messages[-1]).lower()
        if query.purpose == "main" and any(phrase in text for phrase in OVERFLOW_PHRASES):
            raise ModelFailure("overflow", text)
        return answer


def agent(brief: Brief) -> None:
    """The reference agent that mistrusts quotations."""
    build_with(Suspicious, brief)
