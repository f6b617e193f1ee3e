"""Of several children that end at once, the last one is kept."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="Of 12 children 10 are told, as two end at one moment (claude-code #86365)",
    scenario="background-result/two-at-once",
    killed_by="child_result.lost",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Keep the newest end only."""
        self._ended = self._ended[-1:]
        super().take_in(transcript, session, is_first)


def agent(brief: Brief) -> None:
    """The reference agent with one place for a result."""
    play_beside(brief, _Tasks)
