"""A compaction keeps the last message, which is a result, and not the call before it."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message, user
from tests.mutants import Mutant
from tests.mutants.early import Early

MUTANT = Mutant(
    breaks="turn",
    statement="A cut by message count goes through a call and its result (OpenHands #6357)",
    scenario="in-good-time",
    killed_by="compaction_preserves.open_call",
)


class Cutting(Early):
    """Cuts by message count."""

    def shorten(self, summary: str) -> None:
        """Keep one message."""
        asked = [m for m in self.transcript.messages if m.role == "user" and m.text]
        words = (user(summary).blocks[0], *asked[-1].blocks)
        self.transcript.compact(Message("user", words), keep=1)


def agent(brief: Brief) -> None:
    """The reference agent that compacts in the middle of a call."""
    build(brief, turn=Cutting).run()
