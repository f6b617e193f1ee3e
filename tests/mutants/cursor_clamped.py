"""The positional cursor, clamped to the length of the repaired list: the slice is empty."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="A clamp writes nothing when all new rows are skipped (seed 139, hermes #24326)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.lost_reply",
)


class ClampedTranscript(CursorTranscript):
    """Never points behind the end of the list, and still skips what is new."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Clamp, then write what lies behind the cursor."""
        self._cursor = min(self._cursor, len(self._rows) + 1)
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent with a clamped cursor."""
    build(brief, transcript=ClampedTranscript).run()
