"""An empty compaction takes the place of the history, for good."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="The conversation is replaced by nothing, and stays lost (AutoGPT #12413)",
    scenario="overflow-summaries/empty-then-two-turns",
    killed_by="history_faithful.forgotten_past",
)


def _or_nothing(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens, ask) or Compacted(Message("user"), 1)


def agent(brief: Brief) -> None:
    """The reference agent that takes no summary for an empty one."""
    build(brief, compaction=_or_nothing).run()
