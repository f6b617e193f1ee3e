"""The threshold is that of a smaller model, so that each turn begins with a summary."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.context_overflow import Ask, Compacted
from harness.agent.models.model_call import Query
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, user
from tests.mutants import Mutant
from tests.mutants.compacts_after_hi import Anxious

MUTANT = Mutant(
    breaks="compaction",
    statement="Compressed sixteen times, from 205K to 204K tokens (incident 52)",
    scenario="compressed-at-every-turn",
    killed_by="compaction_due.every_turn",
)


def _first_of(messages: Sequence[Message], budget: int, ask: Ask) -> Compacted:
    """A summary of the oldest message alone."""
    asked = Query((user(f"Summarise this. {messages[0].text}"),), purpose="compact")
    return Compacted(user(ask(asked).message.text), len(messages) - 1)


def agent(brief: Brief) -> None:
    """The reference agent that shortens each conversation a little."""
    build(brief, turn=Anxious, compaction=_first_of).run()
