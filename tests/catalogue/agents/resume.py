"""Agents that go wrong after a kill or a restart."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.conversation.projection import Projection
from harness.agent.gateway import Gateway
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message
from harness.stores import Pending
from harness.stores.session_store import SessionRow, SessionStore


def forgets_at_each_start(brief: Brief) -> None:
    """Reads nothing of what was stored before its start but the message that is to be answered."""
    known: dict[str, set[str]] = {}

    class _Fresh(RowTranscript):
        def __init__(self, store: SessionStore, session: str, project: Projection) -> None:
            super().__init__(store, session, project)
            known.setdefault(session, {row.id for row in store.rows(session)})

        def load(self) -> list[SessionRow]:
            """The rows since the start."""
            return [row for row in super().load() if row.id not in known[self._session]]

        def resume(self, inbound: Inbound) -> int:
            """Take a turn up with its message, and nothing that came of it."""
            attempts = self._store.begin(inbound)
            rows = super().load()
            self._rows = [row for row in rows if row.message.text == inbound.text][-1:]
            known[self._session] = {row.id for row in rows} - {row.id for row in self._rows}
            return attempts

    build(brief, transcript=_Fresh).run()


class _Silent(Gateway):
    def recover(self, pending: Pending) -> None:
        """Load the history of an interrupted turn, and leave it at that."""
        self.own_messages.add((pending.inbound.session, pending.inbound.id))
        self.transcript_of(pending.inbound.session).resume(pending.inbound)


def resumes_into_silence(brief: Brief) -> None:
    """Takes an interrupted turn up, and does not go on with it."""
    build(brief, gateway=_Silent).run()


class _Announcing(Gateway):
    def run(self) -> None:
        """Say that this is a start, in answer to the last message."""
        for session in ("main",):
            for row in self.store.rows(session)[-1:]:
                self.brief.send("I am back online.", "final", session, row.inbound or None)
        super().run()


def announces_each_start(brief: Brief) -> None:
    """Has something to say to the user at every start."""
    build(brief, gateway=_Announcing).run()


class _StoredAtTheEnd(RowTranscript):
    """Keeps the work of a turn in memory until it is over."""

    def append(self, message: Message) -> None:
        """Add a message in memory."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Store what the turn has brought."""
        for row in self._rows:
            if not row.id:
                self._store.append(self._session, row.message)
        super().close(inbound, outcome)


def stores_work_at_the_end(brief: Brief) -> None:
    """Stores the message at once, and what came of it when the turn is over."""
    build(brief, transcript=_StoredAtTheEnd).run()


class _Rebuilding(Loop):
    def run(self) -> Outcome:
        """Store the last call again when the user has stopped the turn."""
        outcome = super().run()
        calls = [m for m in self.transcript.messages if m.tool_uses]
        if outcome.status == "cancelled" and calls:
            self.transcript.append(calls[-1])
        return outcome


def stores_the_call_again_on_stop(brief: Brief) -> None:
    """Rebuilds a stopped answer from the screen, beside the one that is stored."""
    build(brief, turn=_Rebuilding).run()
