"""A turn is one transaction of the store: if it fails, its calls and results are rolled back."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="The rows of a failed turn are taken back, and what its calls did stays",
    scenario="redelivered-in-a-long-turn/the-turn-fails",
    killed_by="turn_closed.effect",
)


class Committed(RowTranscript):
    """Keeps the steps of a turn in memory until it has succeeded."""

    def append(self, message: Message) -> None:
        """Add a message in memory."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the steps of a success, and the reply in any case."""
        for row in self._rows if outcome.status == "ok" else ():
            if not row.id:
                self._store.append(self._session, row.message)
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that rolls failed turns back."""
    build(brief, transcript=Committed).run()
