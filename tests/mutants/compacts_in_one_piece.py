"""The request for a summary holds all that was too long before."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="The compaction itself does not fit the window",
    scenario="prompt-too-long/all-attempts-fail",
    killed_by="compaction_preserves.too_large",
)


def _whole(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    return compact(messages, budget_tokens * 1000, ask)


def agent(brief: Brief) -> None:
    """The reference agent that sends everything to be summed up."""
    build(brief, compaction=_whole).run()
