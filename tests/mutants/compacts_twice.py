"""The last attempt compacts again in place of dropping the history."""

from __future__ import annotations

from harness.agent import build
from harness.agent.context_overflow import Compaction, Escalation
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="overflow",
    statement="A compaction that was not enough is compacted again (AutoGPT #12413, first draft)",
    scenario="prompt-too-long/compacted-still-too-long",
    killed_by="compaction_progress",
)


def _compact_again(compaction: Compaction) -> Escalation:
    return Escalation(compaction, ("compact", "compact", "compact"))


def agent(brief: Brief) -> None:
    """The reference agent with compaction at every stage."""
    build(brief, overflow=_compact_again).run()
