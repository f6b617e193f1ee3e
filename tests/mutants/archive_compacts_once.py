"""A session that was compacted once ignores every later compaction."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A second compaction is ignored (AutoGPT #12413, first version, statement 82)",
    scenario="second-compaction",
    killed_by="append_only_prefix.messages",
)


class OnceChain(Chain):
    """Is done with compactions after the first one."""

    def summarise(self, summary: Message, keep: int) -> None:
        """Take a summary, unless there is one."""
        if not any(e.is_summary for e in self.entries):
            super().summarise(summary, keep)


def agent(brief: Brief) -> None:
    """The reference agent with an archive that takes in one compaction only."""
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=OnceChain)
    ).run()
