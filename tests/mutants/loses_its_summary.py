"""The summary is written, and then forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="What a summary replaces is dropped, and the summary is not sent",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.lost",
)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    return Compacted(Message("user"), 1) if written else None


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()
