"""How far a transcript has come is a number of entries, taken for a number of rows."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import read_entries
from harness.agent.sessions.session_archive import ArchivedTranscript, Watermark, archive_of
from harness.core.values.brief import Brief
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="Rows that are not counted alike shift a watermark (AutoGPT, statement 96)",
    scenario="second-compaction",
    killed_by="inbound_exactly_once.lost",
)


class CountingTranscript(ArchivedTranscript):
    """Knows rows by their place."""

    def missing(self, data: bytes, mark: Watermark) -> list[SessionRow] | None:
        """The rows behind as many as there are entries; summaries and boundaries count too."""
        return self._store.rows(self._session)[len(read_entries(data)) :] if data else None


def agent(brief: Brief) -> None:
    """The reference agent with a positional watermark."""
    build(brief, transcript=partial(CountingTranscript, archive_of(brief))).run()
