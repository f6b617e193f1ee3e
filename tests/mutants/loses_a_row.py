"""A row that cannot be written is left out, and the turn goes on."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A write that was locked out is dropped (incidents 167, 170; fujibee/agmsg#114)",
    scenario="no-room-for-a-row/in-the-last-moment",
    killed_by="no_silent_loss.lost",
)


class Forgiving(RowTranscript):
    """Does not look at what the store says."""

    def append(self, message: Message) -> None:
        """Store a message if that works, and add it."""
        try:
            super().append(message)
        except Exception:
            self._rows.append(SessionRow("", message))


def agent(brief: Brief) -> None:
    """The reference agent that takes a failed write for a written row."""
    build(brief, store=brief.store, transcript=Forgiving).run()
