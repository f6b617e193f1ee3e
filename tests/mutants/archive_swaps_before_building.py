"""The list is emptied before it is known whether there is anything to fill it with."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.sessions.jsonl_conversation import Chain
from harness.agent.sessions.session_archive import ArchivedTranscript, archive_of
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A replacement by nothing leaves an empty list (AutoGPT #12413, statement 74)",
    scenario="replay-spiral",
    killed_by="reload_equivalence.forgotten",
)


class EagerChain(Chain):
    """Lets go of what it has, then looks at what it is given."""

    def replace(self, data: bytes) -> bool:
        """Empty the list, and fill it if the file says anything."""
        self.entries = []
        return super().replace(data)


def agent(brief: Brief) -> None:
    """The reference agent with an archive that empties its list first."""
    build(
        brief, transcript=partial(ArchivedTranscript, archive_of(brief), new_chain=EagerChain)
    ).run()
