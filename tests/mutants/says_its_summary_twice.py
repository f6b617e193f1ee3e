"""Each place that may add the summary adds it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A summary stands twice in each request after it",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.twice",
)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    if written is None:
        return None
    first, *words = written.summary.blocks
    return Compacted(Message("user", (first, first, *words)), written.keep)


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()
