"""The user's message is stored with the reply, when the turn is over."""

from __future__ import annotations

from harness.agent import build
from harness.agent.conversation.content import clean
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, user
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A turn that dies takes the user's message with it (incidents 172, 173)",
    scenario="replay-spiral",
    killed_by="durable_first",
)


class LateTranscript(RowTranscript):
    """Keeps a turn in memory until it is over."""

    def open(self, inbound: Inbound) -> bool:
        """Begin a turn in memory."""
        self._rows = [*self._store.load(self._session), SessionRow("", user(clean(inbound.text)))]
        return True

    def append(self, message: Message) -> None:
        """Add a message in memory."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store the whole turn."""
        self._store.accept(inbound, user(clean(inbound.text)))
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that stores a turn at its end."""
    build(brief, transcript=LateTranscript).run()
