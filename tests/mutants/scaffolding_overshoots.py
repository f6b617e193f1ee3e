"""A hint to the model is flushed over, then dropped: the cursor is one too far."""

from __future__ import annotations

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="Scaffolding that is dropped makes the cursor overshoot (seed 147, hermes #31507)",
    scenario="bad-endings/blank-then-answered",
    killed_by="reload_equivalence.lost_reply",
)


class ScaffoldedTranscript(CursorTranscript):
    """Counts the hint that is said once as if it were a row that stays."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The request; a hint moves the cursor, and is not in the list when the turn ends."""
        self._cursor += bool(nudge)
        return super().wire(nudge)


def agent(brief: Brief) -> None:
    """The reference agent that flushes over its hints."""
    build(brief, transcript=ScaffoldedTranscript).run()
