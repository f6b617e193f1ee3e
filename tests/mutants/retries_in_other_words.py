"""Each retry says in the request that it is one, so no counter sees the same request twice."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant
from tests.mutants.second_model import Show
from tests.mutants.three_layers_retry import Patient

MUTANT = Mutant(
    breaks="model",
    statement="The budget is reset by each change of the request (incidents 45, 74)",
    scenario="overloaded",
    killed_by="retry_budget.turn",
)


class Wordy(Patient):
    """Numbers its tries, where the model reads it."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Try four times more, three requests each."""
        for times in range(4):
            self._brief.clock.sleep(4.0 * 2**times)
            try:
                return self.inner.query(_numbered(query, times + 2), show)
            except ModelFailure as another:
                failure = another
        raise failure


def _numbered(query: Query, number: int) -> Query:
    *earlier, last = query.messages
    told = Message(last.role, (*last.blocks, Text(f"(attempt {number})")))
    return msgspec.structs.replace(query, messages=(*earlier, told))


def agent(brief: Brief) -> None:
    """The reference agent whose retries look new."""
    build(brief, model=Wordy(standard_model(brief), brief)).run()
