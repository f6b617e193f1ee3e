"""A flush that fails half way begins again at its first row."""

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
    statement="A write that fails half way duplicates earlier rows (seed 145, hermes #19407)",
    scenario="busy",
    killed_by="reload_equivalence.duplicate",
)


class BatchTranscript(RowTranscript):
    """Writes a turn's rows in one go at its end; the disk is busy at the second one."""

    def append(self, message: Message) -> None:
        """Keep a message for the end of the turn."""
        self._rows.append(SessionRow("", message))

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Flush, and flush again when it fails."""
        waiting = [row.message for row in self._rows if not row.id]
        for last in (2, None):
            for message in waiting[:last]:
                self._store.append(self._session, message)
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that flushes a whole batch again."""
    build(brief, transcript=BatchTranscript).run()
