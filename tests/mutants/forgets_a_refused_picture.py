"""A picture that the provider refused is left out of its own turn, and comes back in the next."""

from __future__ import annotations

from harness.agent import build
from harness.agent.conversation.refused_pictures import is_note
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.messages import Message
from harness.stores import SessionRow
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="What was refused is known until the turn ends (openai/codex#3097)",
    scenario="refused-picture",
    killed_by="no_blind_resend.same_content",
)


class Forgetting(RowTranscript):
    """A transcript that notes in memory what it leaves out."""

    def append(self, message: Message) -> None:
        """Add a message, and store it unless it is the note."""
        if is_note(message):
            self._rows.append(SessionRow("", message))
        else:
            super().append(message)


def agent(brief: Brief) -> None:
    """The reference agent that repairs only the request."""
    build(brief, transcript=Forgetting).run()
