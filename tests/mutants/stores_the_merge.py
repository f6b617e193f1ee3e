"""The repaired list replaces the stored rows at the end of each turn."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant
from tests.mutants.positional_cursor import CursorTranscript

MUTANT = Mutant(
    breaks="transcript",
    statement="replace_messages stores the lossy merge (seed 141, hermes #24211)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.gone",
)


class ReplacingTranscript(CursorTranscript):
    """Knows no cursor: what is live is what is stored."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Delete the session's rows and write the live list."""
        self.append(outcome.message)
        store: Any = self._store
        with store._writing() as db:
            db.execute("DELETE FROM rows WHERE session = ?", (self._session,))
        store.seed(self._session, self.messages)


def agent(brief: Brief) -> None:
    """The reference agent that replaces the rows."""
    build(brief, transcript=ReplacingTranscript).run()
