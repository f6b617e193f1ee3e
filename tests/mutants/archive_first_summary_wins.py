"""Of two summaries in a file the first one is used, with all that the second stands for."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain, new_entry, visible_entries
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="Of two summaries in the file the first one is used (AutoGPT #12413, statement 72)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)

_FLAG = "isCompactSummary"


class FirstSummaryChain(Chain):
    """Begins with the first summary that it finds."""

    def rows(self) -> list[SessionRow]:
        """The conversation from the first summary on, as if later ones were words of the user."""
        first = next((n for n, e in enumerate(self.entries) if e.is_summary), 0)
        head, rest = self.entries[: first + 1], self.entries[first + 1 :]
        fields = ({k: v for k, v in e.value.items() if k != _FLAG} for e in rest)
        found = (
            (e, e.message)
            for e in visible_entries([*head, *(new_entry(value) for value in fields)])
        )
        return [SessionRow(e.value.get("rowId") or "", m) for e, m in found if m is not None]


def agent(brief: Brief) -> None:
    """The reference agent with an archive that is told from the first summary on."""
    build(
        brief,
        transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=FirstSummaryChain),
    ).run()
