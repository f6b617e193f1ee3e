"""The live history is read back as the last N rows of the session, including foreign rows."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A row of a second process moves all others by one place (incident 146)",
    scenario="second-process-writes",
    killed_by="history_faithful",
)


class Counted(RowTranscript):
    """Knows how many rows there are, and not which."""

    def append(self, message: Message) -> None:
        """Store a message, and read back as many rows as there should be now."""
        super().append(message)
        self._rows = self.load()[-len(self._rows) :]


def agent(brief: Brief) -> None:
    """The reference agent that counts its rows."""
    build(brief, transcript=Counted).run()
