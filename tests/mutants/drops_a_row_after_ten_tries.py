"""A row that the store refuses is tried for a minute, and then dropped without a word."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RetryingStore, RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from harness.stores import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A store that fails longer than the agent tries loses the row (incidents 167, 168)",
    scenario="no-room-for-a-row/full-for-good",
    killed_by="no_silent_loss.lost",
)


class Forgiving(RowTranscript):
    """Gives a row up when all tries were in vain."""

    def append(self, message: Message) -> None:
        """Store a message if that works, and add it."""
        try:
            super().append(message)
        except Exception:
            self._rows.append(SessionRow("", message))


def agent(brief: Brief) -> None:
    """The reference agent that goes on after nine tries."""
    store = RetryingStore(brief.store, brief.clock.sleep, (0.1, *range(1, 8)))
    build(brief, store=store, transcript=Forgiving).run()
