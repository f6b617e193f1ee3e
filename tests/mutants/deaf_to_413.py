"""Only the phrase counts: a proxy's 413 has other words."""

from __future__ import annotations

from harness.agent.models.failures import OVERFLOW_PHRASES, ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A 413 is not a context error, and ends the turn (incidents 30; AutoGPT #12625)",
    scenario="overflow-shapes/too-large-for-a-proxy",
    killed_by="expect.outcome",
)


class Deaf(SecondModel):
    """Knows an overflow by its words alone."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Give up on other words."""
        known = any(phrase in failure.text.lower() for phrase in OVERFLOW_PHRASES)
        raise failure if known else ModelFailure("permanent", failure.text)


def agent(brief: Brief) -> None:
    """The reference agent that does not look at the status."""
    build_with(Deaf, brief)
