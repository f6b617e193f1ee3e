"""Something in the store cannot be read, and the agent begins with a blank page."""

from __future__ import annotations

from harness.agent import build
from harness.agent.conversation.projection import Projection
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from harness.stores.session_store import SessionStore
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="A torn last line, and the conversation is shown blank (incidents 162, 164, 165)",
    scenario="torn-last-line",
    killed_by="reload_equivalence.forgotten",
)


class BlankPage(RowTranscript):
    """Forgets what is stored when any of it is damaged."""

    def wire(self, nudge: str = "") -> list[Message]:
        """The last message alone, if the store has something to say about the others."""
        told = super().wire(nudge)
        return told[-1:] if self._store.notes else told


def transcript(store: SessionStore, session: str, projection: Projection) -> BlankPage:
    """The history of a session, or nothing."""
    return BlankPage(store, session, projection)


def agent(brief: Brief) -> None:
    """The reference agent that gives the past up."""
    build(brief, transcript=transcript).run()
