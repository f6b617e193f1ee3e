"""What mutants of the schedule share: a client without retries, and waits of their own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.composition import is_on
from harness.agent.models.anthropic_model import AnthropicModel
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants.second_model import SecondModel, Show


class Scheduled(SecondModel):
    """Tries again after each of the waits, in seconds, and ignores the answer."""

    def __init__(self, brief: Brief, waits_s: Sequence[float]) -> None:
        client = brief.anthropic(max_retries=0)
        super().__init__(AnthropicModel(client, is_on(brief, "stream")))
        self._brief, self._waits_s = brief, waits_s

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Wait, and try again."""
        for wait_s in self._waits_s:
            self._brief.clock.sleep(wait_s)
            try:
                return self.inner.query(query, show)
            except ModelFailure as another:
                failure = another
        raise failure


def build_scheduled(brief: Brief, *waits_s: float) -> None:
    """Run the reference agent with waits of its own."""
    build(brief, model=Scheduled(brief, waits_s)).run()
