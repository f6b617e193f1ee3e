"""A summary that failed replaces the past all the same."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A failed summary wipes the conversation",
    scenario="what-a-summary-replaces/no-summary",
    killed_by="summary_used.wiped",
)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens, ask) or Compacted(Message("user"), 1)


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()
