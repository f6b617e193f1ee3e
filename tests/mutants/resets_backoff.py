"""Each retry resets the retry budget."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="An unconditional reset of the back-off budget is endless (AutoGPT #12413, draft)",
    scenario="overflow-shapes/overloaded-for-ever-after-compaction",
    killed_by="backoff.too_soon",
)


RETRIES = 3


class Stubborn(SecondModel):
    """Has a budget, and fills it up again at the wrong place."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try again, while there is a budget."""
        budget = RETRIES
        while failure.kind == "transient" and budget > 0:
            budget = RETRIES - 1
            try:
                return self.inner.query(query, show)
            except ModelFailure as another:
                failure = another
        raise failure


def agent(brief: Brief) -> None:
    """The reference agent that is always at its first retry."""
    build_with(Stubborn, brief)
