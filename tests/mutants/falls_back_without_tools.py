"""A failed request is sent again without its tools, and the guess is the answer."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel

MUTANT = Mutant(
    breaks="model",
    statement="A fallback is offered no tools, and says so as if it were the answer (unseen, A)",
    scenario="fallback-without-tools",
    killed_by="truthful_outcome.without_tools",
)


class Bare(SecondModel):
    """Falls back to a request without tools."""

    def failed(
        self, failure: ModelFailure, query: Query, show: Callable[[str], None] | None
    ) -> ModelAnswer:
        """Ask again, with nothing to call."""
        return self.inner.query(msgspec.structs.replace(query, tools=()), show)


def agent(brief: Brief) -> None:
    """The reference agent with a fallback that has no tools."""
    build(brief, model=Bare(standard_model(brief))).run()
