"""A smaller request is tried after any failure."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="An error of another kind takes attempts of the escalation (AutoGPT #12413)",
    scenario="overflow-shapes/another-error-after-compaction",
    killed_by="expect.calls",
)


class Hopeful(SecondModel):
    """Calls every failure an overflow."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Hope that less is better."""
        raise ModelFailure("overflow", failure.text) from failure


def agent(brief: Brief) -> None:
    """The reference agent that shrinks the history on every error."""
    build_with(Hopeful, brief)
