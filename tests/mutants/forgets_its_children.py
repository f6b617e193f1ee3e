"""The result of a child in the background is kept where the agent never looks."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="A background result is written and no parent is told (nearai/ironclaw#4084)",
    scenario="background-result",
    killed_by="child_result.lost",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Take in nothing."""


def agent(brief: Brief) -> None:
    """The reference agent that never looks for what has ended."""
    play_beside(brief, _Tasks)
