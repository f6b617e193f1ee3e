"""When the breaker trips, the rows of the turn are taken back, and the user loses what was done."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.agent.sessions.turn_outcome import Outcome
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A trip leaves the list before the attempt and a marker (seeds 28, before #12918)",
    scenario="empty-inputs",
    killed_by="reload_equivalence.gone",
)


class RollsBack(RowTranscript):
    """Takes rows out of the store."""

    def close(self, inbound: Inbound, outcome: Outcome) -> None:
        """Roll a failed turn back to its inbound message, then keep the reply."""
        if outcome.status == "failed":
            rows = self._store.rows(self._session)
            last = max(n for n, row in enumerate(rows) if row.inbound == inbound.id)
            with self._store._writing() as db:  # type: ignore[attr-defined]
                for row in rows[last + 1 :]:
                    db.execute("DELETE FROM rows WHERE id=?", (row.id,))
        super().close(inbound, outcome)


def agent(brief: Brief) -> None:
    """The reference agent that rolls back."""
    build(brief, transcript=RollsBack).run()
