"""A compaction sums up what the user asks, too."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import user
from tests.mutants import Mutant
from tests.mutants.early import Early

MUTANT = Mutant(
    breaks="turn",
    statement="The question of the turn is summed up with the rest (OpenHands #6357)",
    scenario="in-good-time",
    killed_by="compaction_preserves.last_message",
)


class Forgetting(Early):
    """Keeps the last call with its result, and nothing else."""

    def shorten(self, summary: str) -> None:
        """The summary stands for the question."""
        self.transcript.compact(user(summary), keep=2)


def agent(brief: Brief) -> None:
    """The reference agent that no longer knows what it was asked."""
    build(brief, turn=Forgetting).run()
