"""The result of a child goes to the main chat, whichever chat asked for it."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="Notices are routed to the session at the root (claude-code #81438)",
    scenario="result-in-its-own-chat",
    killed_by="child_result.another",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Keep what has ended for the main chat."""
        self._ended = [("main", told) for _, told in self._ended]
        super().take_in(transcript, session, is_first)


def agent(brief: Brief) -> None:
    """The reference agent with one place for all results."""
    play_beside(brief, _Tasks)
