"""The next turn loads every row, those that a summary covers as well."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="Archived rows are loaded again after a compaction (seed 160)",
    scenario="compacted-before",
    killed_by="append_only_prefix.messages",
)


class WholeTranscript(RowTranscript):
    """Knows no summary once the turn is over."""

    def open(self, inbound: Inbound) -> bool:
        """Take the message in, and load all there is."""
        admitted = super().open(inbound)
        self._rows = self._store.rows(self._session)
        return admitted


def agent(brief: Brief) -> None:
    """The reference agent that forgets its summaries."""
    build(brief, transcript=WholeTranscript).run()
