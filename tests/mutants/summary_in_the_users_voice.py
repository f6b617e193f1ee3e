"""The summary is sent as if the user had said it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="A summary stands as a message of the user, without a word that says what it is",
    scenario="what-a-summary-replaces",
    killed_by="summary_used.voice",
)


def _shorten(messages: Sequence[Message], budget_tokens: int, ask: Ask) -> Compacted | None:
    written = compact(messages, budget_tokens, ask)
    if written is None:
        return None
    summary, *words = written.summary.blocks
    assert isinstance(summary, Text)
    bare = Text(summary.text.partition("\n")[2])
    return Compacted(Message("user", (bare, *words)), written.keep)


def agent(brief: Brief) -> None:
    """The reference agent with such a summary."""
    build(brief, compaction=_shorten).run()
