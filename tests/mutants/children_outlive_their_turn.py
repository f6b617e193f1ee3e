"""The user cancels a turn, and the children that it waits for work on."""

from __future__ import annotations

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.task_tool import TaskTranscript
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="turn",
    statement="A stop reaches the parent and no child (agentscope-java #2408, codex #15732)",
    scenario="cancelled-with-a-child",
    killed_by="child_cancelled.goes_on",
)


class _Loop(Loop):
    def check(self) -> None:
        """Learn of a cancel, and go on where this is a child."""
        if isinstance(self.transcript, TaskTranscript):
            self.is_cancelled()
        else:
            super().check()


def agent(brief: Brief) -> None:
    """The reference agent whose children see a cancel and go on."""
    build(brief, turn=_Loop, spawns=True).run()


def look_alike(brief: Brief) -> None:
    """The reference agent with children, which end with their turn."""
    build(brief, spawns=True).run()
