"""Any error that speaks of tokens counts as a prompt that is too long."""

from __future__ import annotations

from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.second_model import SecondModel, Show, build_with

MUTANT = Mutant(
    breaks="model",
    statement="A rate limit or `max_tokens_exceeded` escalates (AutoGPT #12413, first patterns)",
    scenario="overflow-lookalikes/reply-limit",
    killed_by="expect.calls",
)


class Suspicious(SecondModel):
    """Takes every limit for the window."""

    def failed(self, failure: ModelFailure, query: Query, show: Show) -> ModelAnswer:
        """Call it an overflow."""
        kind = "overflow" if "tokens" in failure.text else failure.kind
        raise ModelFailure(kind, failure.text) from failure


def agent(brief: Brief) -> None:
    """The reference agent with one pattern too many."""
    build_with(Suspicious, brief)
