"""A truncated answer is continued, and the continuation is taken for the answer."""

from __future__ import annotations

import msgspec

from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import user
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, build_with

MUTANT = Mutant(
    breaks="model",
    statement="The user reads the end of an answer that was continued, without its beginning",
    scenario="reply-as-the-model-said-it/truncated-and-continued",
    killed_by="reply_carried.continuation",
)


class Continued(SecondModel):
    """Asks the model to go on after its limit, and forgets what it had said."""

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """The answer, or the rest of it."""
        if answer.stop != "max_tokens":
            return answer
        messages = (*query.messages, answer.message, user("Please go on where you stopped."))
        return self.inner.query(msgspec.structs.replace(query, messages=messages))


def agent(brief: Brief) -> None:
    """The reference agent that sends the rest of a truncated answer alone."""
    build_with(Continued, brief)
