"""Of several calls in an answer, the first one is kept."""

from __future__ import annotations

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="The loop reads `tool_calls[0]`, so the second call of two never runs (fault M13)",
    scenario="one-of-many-fails",
    killed_by="calls_handled.dropped",
)


class FirstCall(SecondModel):
    """Drops all calls but the first."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer without its later calls."""
        later = answer.message.tool_uses[1:]
        kept = tuple(block for block in answer.message.blocks if block not in later)
        return msgspec.structs.replace(answer, message=Message("assistant", kept))


def agent(brief: Brief) -> None:
    """The reference agent that runs one call of each answer."""
    build_with(FirstCall, brief)
