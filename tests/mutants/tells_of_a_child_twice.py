"""Two ways lead from a child to its parent, and both are taken."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.agent.sessions.transcript import SessionTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="A completion is captured and announced: it is read twice (openclaw #125797)",
    scenario="background-result",
    killed_by="child_result.doubled",
)


class _Tasks(BackgroundTasks):
    def take_in(self, transcript: SessionTranscript, session: str, is_first: bool) -> None:
        """Take in each end once for each way."""
        if is_first:  # an end that waits would double with each request
            self._ended += [each for each in self._ended if each[0] == session]
        super().take_in(transcript, session, is_first)


def agent(brief: Brief) -> None:
    """The reference agent that announces what it has given already."""
    play_beside(brief, _Tasks)
