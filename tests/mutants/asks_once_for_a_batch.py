"""The guards are asked for a whole batch before any of it has run: a loop inside it is unseen."""

from __future__ import annotations

from harness.agent import build
from harness.agent.guards import Decision, Proceed, Watch
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="watch",
    statement="A batch passes the check before any of it is recorded (seeds 15, 98)",
    scenario="circles/in-one-batch",
    killed_by="no_progress_stop.same_call",
)


class AsksFirst(Watch):
    """Decides on a batch by what was known when it began."""

    def begin_step(self) -> None:
        """Nothing of the batch is known to be wrong."""
        super().begin_step()
        self._decided: Decision | None = None

    def before(self, call: ToolUse) -> Decision:
        """The decision on the first call of the batch; the rest of it is alike."""
        if self._decided is None or not isinstance(self._decided, Proceed):
            self._decided = super().before(call)
        return self._decided


def agent(brief: Brief) -> None:
    """The reference agent with guards that are asked once for a batch."""
    build(brief, watch=AsksFirst).run()
