"""The text of the error becomes the summary."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.agent.models.failures import ModelFailure
from harness.agent.models.model_call import ModelAnswer, Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, user
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A failed summary is replaced by the text of its error",
    scenario="what-a-summary-replaces/no-summary",
    killed_by="summary_used.error",
)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    errors = list[str]()

    def asked(query: Query) -> ModelAnswer:
        try:
            return ask(query)
        except ModelFailure as failure:
            errors.append(str(failure))
            raise

    written = compact(messages, budget_tokens, asked)
    return written or Compacted(user(f"Summary of the conversation so far:\n{errors}"), 1)


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()
