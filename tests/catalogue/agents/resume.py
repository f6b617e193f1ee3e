"""Agents that go wrong after a kill or a restart."""

from __future__ import annotations

from harness.agent import build
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.stores.session_store import SessionRow, SessionStore


def forgets_at_each_start(brief: Brief) -> None:
    """Reads nothing of what was stored before its start but the message that is to be answered."""
    known: dict[str, set[str]] = {}

    class _Fresh(RowTranscript):
        def __init__(self, store: SessionStore, session: str, project: Projection) -> None:
            super().__init__(store, session, project)
            known.setdefault(session, {row.id for row in store.load(session)})

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
