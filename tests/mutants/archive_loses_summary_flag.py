"""The flag of a summary is lost when a transcript is saved, and the whole past is told again."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain, join_entries, new_entry
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="The flag of a summary is lost at export (AutoGPT #12413, statement 77)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)

_FLAG = "isCompactSummary"


class FlaglessChain(Chain):
    """Saves the fields that it knows, and the flag is not one of them."""

    def export(self) -> bytes:
        """The entries without the flag."""
        fields = ({k: v for k, v in e.value.items() if k != _FLAG} for e in self.entries)
        return join_entries([new_entry(value) for value in fields])


def agent(brief: Brief) -> None:
    """The reference agent with an archive that loses the flag."""
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=FlaglessChain)
    ).run()
