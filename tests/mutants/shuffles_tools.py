"""The tools come out of a set, so every second request offers them in another order."""

from __future__ import annotations

from itertools import count

import msgspec

from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="Tools in another order make the provider read the whole prompt again (invariant 8)",
    scenario="circle-of-three/patient-wait",
    killed_by="append_only_prefix.tools",
)


class Shuffling(SecondModel):
    """Turns the list of tools round with each query."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._asked = count()

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer to a query with the tools in another order."""
        tools = query.tools if next(self._asked) % 2 else query.tools[::-1]
        return super().query(msgspec.structs.replace(query, tools=tools), show)


def agent(brief: Brief) -> None:
    """The reference agent that shuffles its tools."""
    build_with(Shuffling, brief)
