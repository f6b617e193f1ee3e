"""A prompt that is too long is sent again with a note that it is too long."""

from __future__ import annotations

import msgspec

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="After a refusal for its size the request grows (incidents 27, 30)",
    scenario="overflow-shapes",
    killed_by="request_fits.again",
)


class Explaining(SecondModel):
    """Thinks that every failure is one of words."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Ask again, and say why."""
        if failure.kind != "overflow":
            raise failure
        *earlier, last = query.messages
        told = Message(last.role, (*last.blocks, Text(f"Error: {failure.text}. Try again.")))
        return self.inner.query(msgspec.structs.replace(query, messages=(*earlier, told)), show)


def agent(brief: Brief) -> None:
    """The reference agent that argues with a refusal."""
    build_with(Explaining, brief)
