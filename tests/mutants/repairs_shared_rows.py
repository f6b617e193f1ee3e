"""The list is copied for repair, the messages in it are not: a merge is written into the past."""

from __future__ import annotations

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from harness.stores.session_store import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A merge on a shallow copy grows the shared message with every request (seed 137)",
    scenario="damaged-history/repaired-in-a-tool-loop",
    killed_by="append_only_prefix.messages",
)


class ShallowTranscript(RowTranscript):
    """Merges two user rows into the first of them, and leaves the second where it is."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The request, made of rows that are shared with the live history."""
        kept: list[int] = []
        for place, row in enumerate(self._rows):
            first = self._rows[kept[-1]] if kept else None
            if first and first.message.role == row.message.role == "user":
                merged = Message("user", first.message.blocks + row.message.blocks)
                self._rows[kept[-1]] = SessionRow(first.id, merged, first.inbound)
            else:
                kept.append(place)
        return self._project([self._rows[place].message for place in kept])


def agent(brief: Brief) -> None:
    """The reference agent that repairs shared messages."""
    build(brief, transcript=ShallowTranscript).run()
