"""The positional cursor, which falls back to what a fresh agent has flushed: nothing."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="A fallback to last_flushed writes the history again (seed 140, hermes #24196)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.duplicate",
)


class FallingTranscript(CursorTranscript):
    """Begins at the start when the cursor lies behind the end."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Fall back, then write what lies behind the cursor."""
        if self._cursor > len(self._rows):
            self._cursor = 0
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent whose cursor falls back."""
    build(brief, transcript=FallingTranscript).run()
