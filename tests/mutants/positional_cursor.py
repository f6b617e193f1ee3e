"""Repair of the canonical list, and a cursor that counts positions in it: replies are lost.

The agent loads the history, flushes the inbound row early, and repairs the live list in place. At
the end it writes the rows behind the cursor. Repair made the list shorter than the cursor.
"""

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
    statement="Every reply is delivered and none is stored (hermes #43905, with the early flush)",
    scenario="replay-spiral",
    killed_by="reload_equivalence",
)


def repair(messages: list[Message]) -> list[Message]:
    """Merge neighbouring user rows with a blank line between, as the original did."""
    repaired: list[Message] = []
    for message in messages:
        if repaired and message.role == repaired[-1].role == "user":
            message = user(f"{repaired.pop().text}\n\n{message.text}")
        repaired.append(message)
    return repaired


class CursorTranscript(RowTranscript):
    """Writes `live[max(loaded, flushed):]` when the turn is over."""

    def open(self, inbound: Inbound) -> bool:
        """Load, add the message, flush it, and repair the live list."""
        loaded = [row.message for row in self._store.load(self._session)]
        if not self._admit(inbound):
            return False
        live = [*loaded, user(clean(inbound.text))]
        self._cursor = max(len(loaded), self._flushed(live))
        self._rows = [SessionRow("", message) for message in repair(live)]
        return True

    def _admit(self, inbound: Inbound) -> bool:
        return self._store.accept(inbound, user(clean(inbound.text)))

    def _flushed(self, live: list[Message]) -> int:
        return len(live)

    def append(self, message: Message) -> None:
        """Add a message to the live list."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Write what lies behind the cursor."""
        self.append(outcome.message)
        for row in self._rows[self._cursor :]:
            self._store.append(self._session, row.message)


def agent(brief: Brief) -> None:
    """The reference agent with the positional cursor."""
    build(brief, transcript=CursorTranscript).run()
