"""A wrapper's message about its failure is stored and sent as the answer."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import assistant
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A result message `success`, Prompt is too long, is the answer (AutoGPT #12625)",
    scenario="overflow-shapes/result-message",
    killed_by="truthful_outcome.synthetic",
)


class Trusting(SecondModel):
    """Takes a message for an answer because it looks like one."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """A failure that no exception caused came as a message."""
        if failure.__cause__ is None and failure.kind == "overflow":
            return ModelAnswer(assistant(failure.text), "end_turn")
        raise failure


def agent(brief: Brief) -> None:
    """The reference agent that trusts every message."""
    build_with(Trusting, brief)
