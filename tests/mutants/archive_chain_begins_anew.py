"""What is added to a transcript that was loaded has no parent, so the past is cut off."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="The parent chain breaks after a load (AutoGPT #12413, statement 86)",
    scenario="replay-spiral",
    killed_by="history_faithful.forgotten_reply",
)


class RootlessChain(Chain):
    """Forgets the last name when entries are replaced."""

    def replace(self, data: bytes) -> bool:
        """Take the entries of a file, and begin its own chain behind them."""
        replaced = super().replace(data)
        self._cut = len(self.entries) if replaced else 0
        return replaced

    def last_uuid(self) -> str:
        """Nothing, right after a replacement."""
        return "" if len(self.entries) == getattr(self, "_cut", 0) else super().last_uuid()


def agent(brief: Brief) -> None:
    """The reference agent with an archive whose chain breaks at every load."""
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=RootlessChain)
    ).run()
