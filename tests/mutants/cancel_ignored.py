"""The cancel is seen, noted, and has no effect on what is under way."""

from __future__ import annotations

from typing import Any

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="loop",
    statement="A cancel stops neither the tools of the batch nor the next request (incidents 14)",
    scenario="cancel",
    killed_by="cancel_honoured",
)


class Deaf(Loop):
    """Asks whether it is cancelled, and goes on."""

    def __init__(self, *parts: Any, **more: Any) -> None:
        """Take the parts, and look away from the cancel."""
        super().__init__(*parts, **more)
        asked = self.is_cancelled
        self.is_cancelled = lambda: asked() and False


def agent(brief: Brief) -> None:
    """The reference agent that does not stop."""
    build(brief, turn=Deaf).run()
