"""After a kill the turn begins with its message, and what the model had read is not there."""

from __future__ import annotations

import msgspec

from harness.agent import build
from harness.agent.sessions.transcript import RowTranscript
from harness.core.values.brief import Brief
from harness.core.values.calls import Inbound
from harness.core.values.messages import Message, Text
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="transcript",
    statement="Completed work runs again after a resume (arXiv 2608.03836, prefix continuation)",
    scenario="read-and-forgotten",
    killed_by="resume_prefix.forgotten",
)


class Anew(RowTranscript):
    """Resumes from the last message of the user."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn up to its message."""
        attempts = super().resume(inbound)
        place = max(n for n, row in enumerate(self._rows) if row.inbound)
        self._rows = self._rows[: place + 1]
        return attempts


class Noted(RowTranscript):
    """Resumes behind a note of what was found, in place of the calls."""

    def resume(self, inbound: Inbound) -> int:
        """Load the interrupted turn, and tell in words what its calls have shown."""
        attempts = super().resume(inbound)
        found = [result.text for row in self._rows for result in row.message.tool_results]
        place = max(n for n, row in enumerate(self._rows) if row.inbound)
        asked = self._rows[place]
        known = Text(f"This is known already: {' '.join(found)}")
        message = Message("user", (*asked.message.blocks, known))
        self._rows = [*self._rows[:place], msgspec.structs.replace(asked, message=message)]
        return attempts


def agent(brief: Brief) -> None:
    """The reference agent that begins an interrupted turn from its message."""
    build(brief, transcript=Anew).run()


def look_alike(brief: Brief) -> None:
    """One that goes on behind a note of the results."""
    build(brief, transcript=Noted).run()
