"""What came of a broken stream is kept, and the next attempt begins at the start."""

from __future__ import annotations

import msgspec

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Text
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="Beginnings of broken streams and the answer are one reply (hermes-agent#86572)",
    scenario="reply-as-the-model-said-it/after-broken-streams+stream",
    killed_by="reply_carried.sewn",
)


class Sewn(SecondModel):
    """Puts what came of each failed attempt before the answer."""

    came = ""

    def query(self, query: Query, show: Show = None) -> ModelAnswer:
        """The answer, behind the parts that came before it."""
        parts: list[str] = []
        try:
            answer = self.inner.query(query, parts.append)
        except ModelFailure:
            self.came += "".join(parts)
            raise
        kept, self.came = self.came, ""
        if not kept:
            return answer
        blocks = (Text(kept), *answer.message.blocks)
        message = msgspec.structs.replace(answer.message, blocks=blocks)
        return msgspec.structs.replace(answer, message=message)


def agent(brief: Brief) -> None:
    """The reference agent that keeps the parts of broken answers."""
    build_with(Sewn, brief)
