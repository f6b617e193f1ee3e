"""One streak for all tools: two that fail in turn never fill it."""

from __future__ import annotations

from collections.abc import Hashable

from harness.agent import build
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.halt import Halt, instead

MUTANT = Mutant(
    breaks="guards",
    statement="Two tools failing alternately never reach three in a row (seed 119, hermes #35937)",
    scenario="repeated-errors/two-tools-in-turn",
    killed_by="no_progress_stop.cycle",
)


class SingleStreak(Halt):
    """Another failure begins a new streak."""

    def key(self, call: ToolUse, result: ToolResult) -> Hashable:
        """Forget every other failure."""
        key = super().key(call, result)
        for other in self.counts.keys() - {key}:
            del self.counts[other]
        return key


def agent(brief: Brief) -> None:
    """The reference agent with one streak of failures."""
    build(brief, guards=instead(SingleStreak)).run()
