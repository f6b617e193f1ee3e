"""After a restart the children that had not ended are dropped from the books."""

from __future__ import annotations

from harness.agent.background_tasks import BackgroundTasks
from harness.core.values.brief import Brief
from tests.mutants import Mutant
from tests.mutants.children_handled import play_beside

MUTANT = Mutant(
    breaks="background",
    statement="A restart drops running children, and no parent is told (openclaw/openclaw#98112)",
    scenario="lost-child",
    killed_by="child_result.untold",
)


class _Tasks(BackgroundTasks):
    def _lost(self, session: str) -> list[str]:
        return []


def agent(brief: Brief) -> None:
    """The reference agent that looks for no child after a restart."""
    play_beside(brief, _Tasks)
