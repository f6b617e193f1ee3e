"""The result of a child goes to the session that has the next turn."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="A completion is routed to another session (claude-code #81438)",
    scenario="background-result/two-chats",
    killed_by="child_result.another",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Give what has ended to the session that asks."""
        self._ended = [(session, told) for _, told in self._ended]
        super().take_in(transcript, session, is_first)


def agent(brief: Brief) -> None:
    """The reference agent that keeps results by their time."""
    play_beside(brief, _Tasks)
