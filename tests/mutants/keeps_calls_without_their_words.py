"""Of an answer with words and calls only the calls are kept."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel

MUTANT = Mutant(
    breaks="model",
    statement="The content beside `tool_calls` is sent back as null, and the words are lost",
    scenario="end-told-beside-a-call",
    killed_by="history_faithful.forgotten_words",
)


class CallsAlone(SecondModel):
    """Drops the words beside calls."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, without its words if it calls a tool."""
        if not answer.message.tool_uses:
            return answer
        kept = tuple(b for b in answer.message.blocks if not isinstance(b, Text))
        return msgspec.structs.replace(answer, message=Message("assistant", kept))


def agent(brief: Brief) -> None:
    """The reference agent that keeps calls alone."""
    build(brief, model=CallsAlone(standard_model(brief))).run()
