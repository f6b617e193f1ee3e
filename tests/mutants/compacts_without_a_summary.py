"""The summary is empty, and the history is dropped all the same."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant
from tests.mutants.early import Early

MUTANT = Mutant(
    breaks="turn",
    statement="An empty summary replaces a history that was not refused (seed 61)",
    scenario="in-good-time/without-a-summary",
    killed_by="compaction_preserves.failed",
)


class Dropping(Early):
    """Drops first and looks afterwards."""

    def shorten(self, summary: str) -> None:
        """Keep the question and the last two messages, for any summary."""
        asked = [m for m in self.transcript.messages if m.role == "user" and m.text]
        self.transcript.compact(Message("user", asked[-1].blocks), keep=2)


def agent(brief: Brief) -> None:
    """The reference agent that takes nothing for a summary."""
    build(brief, turn=Dropping).run()
