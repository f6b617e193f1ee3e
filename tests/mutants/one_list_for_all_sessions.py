"""One list of messages serves every session: each user's requests hold what the others wrote."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.stores import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A list of messages is shared by the sessions of all users (seed 14)",
    scenario="words-of-another-user",
    killed_by="session_isolation.message",
)


def agent(brief: Brief) -> None:
    """The reference agent with one list for a whole run."""
    rows: list[SessionRow] = []

    class Shared(RowTranscript):
        def open(self, inbound: Inbound) -> bool:
            is_new = super().open(inbound)
            rows.extend(self._rows[-1:] if is_new else [])
            self._rows = rows
            return is_new

        def close(self, inbound: Inbound, outcome: Outcome) -> None:
            super().close(inbound, outcome)
            rows.append(SessionRow("", outcome.message))

    build(brief, transcript=Shared).run()
