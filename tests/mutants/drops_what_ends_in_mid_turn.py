"""A child that ends while its parent works is not kept for later."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="A notice that comes in mid-turn is dropped (claude-code#86200, #87675)",
    scenario="background-result/in-mid-turn",
    killed_by="child_result.lost",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Forget what has ended where the turn cannot take it."""
        super().take_in(transcript, session, is_first)
        if not is_first:
            self._ended.clear()


def agent(brief: Brief) -> None:
    """The reference agent that is told only where it waits."""
    play_beside(brief, _Tasks)
