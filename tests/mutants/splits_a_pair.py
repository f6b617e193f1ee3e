"""A compaction keeps the results and drops the calls that they answer."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A tool result without its call follows the summary (incidents 40-61)",
    scenario="overflow-in-a-tool-loop",
    killed_by="valid_request",
)


def _splitting(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    compacted = compact(messages, budget_tokens, ask)
    return compacted and Compacted(compacted.summary, 1)


def agent(brief: Brief) -> None:
    """The reference agent that cuts anywhere, and repairs nothing afterwards."""
    build(brief, compaction=_splitting, projection=list).run()
