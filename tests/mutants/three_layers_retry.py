"""The SDK retries, the agent retries the SDK, and both take three times."""

from __future__ import annotations

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show

MUTANT = Mutant(
    breaks="model",
    statement="Router and completion both retry: n times m requests (incidents 104; litellm #2620)",
    scenario="overloaded",
    killed_by="retry_budget.request",
)


class Patient(SecondModel):
    """Waits longer each time, and does not know that it is not alone."""

    def __init__(self, inner: LanguageModel, brief: Brief) -> None:
        super().__init__(inner)
        self._brief = brief

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try twice more."""
        for times in range(2):
            self._brief.clock.sleep(4.0 * 2**times)
            try:
                return self.inner.query(self.asked(query, times), show)
            except ModelFailure as another:
                failure = another
        raise failure

    def asked(self, query: Query, times: int) -> Query:
        """What is asked then."""
        return query


def agent(brief: Brief) -> None:
    """The reference agent with one layer of retries too many."""
    build(brief, model=Patient(standard_model(brief), brief)).run()
