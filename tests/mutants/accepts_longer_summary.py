"""A summary that is longer than what it stands for is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.agent import build
from harness.agent.context_overflow import Compacted, compact
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="compaction",
    statement="After a compaction the prompt has grown (incidents 43, 54)",
    scenario="overflow-summaries/longer-than-before",
    killed_by="compaction_progress.larger",
)


def _any_size(compacted: Compacted, messages: Sequence[Message]) -> bool:
    return True


def agent(brief: Brief) -> None:
    """The reference agent that does not measure its summaries."""
    build(brief, compaction=partial(compact, saves_enough=_any_size)).run()
