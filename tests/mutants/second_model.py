"""What mutants of the model share: the standard model behind another one, which gets it wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from harness.agent import build
from harness.agent.composition import standard_model
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import LanguageModel, ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Block

Show: TypeAlias = Callable[[str], None] | None


class SecondModel:
    """Passes queries on; a mutant overrides what it does with an answer or with a failure."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer of the model behind."""
        try:
            answer = self.inner.query(query, show)
        except ModelFailure as failure:
            return self.failed(failure, query, show)
        return self.answered(answer, query)

    def answered(self, answer: ModelAnswer, query: Query) -> ModelAnswer:
        """What becomes of an answer."""
        return answer

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """What becomes of a failure."""
        raise failure


def with_blocks(answer: ModelAnswer, change: Callable[[Block], Block]) -> ModelAnswer:
    """The answer with each block of its message changed."""
    blocks = tuple(map(change, answer.message.blocks))
    message = msgspec.structs.replace(answer.message, blocks=blocks)
    return msgspec.structs.replace(answer, message=message)


def build_with(model: type[SecondModel], brief: Brief) -> None:
    """Run the reference agent with a second model."""
    build(brief, model=model(standard_model(brief))).run()
