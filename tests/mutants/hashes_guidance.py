"""Results are compared with the warning behind them, whose count makes each another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import msgspec

from harness.agent import build
from harness.agent.guards import Guard, Guide, Proceed, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="The identity of a result is taken after the warning is appended (seed 111)",
    scenario="circles/one-call",
    killed_by="no_progress_stop.same_call",
)


class Warned(RepeatGuard):
    """Sees results as the model sees them."""

    def __init__(self) -> None:
        super().__init__()
        self._calls_made = count(1)

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the call and its result with the warning."""
        warned = f"{result.text}\n[Warning: call {next(self._calls_made)} of this turn.]"
        return super().after(call, msgspec.structs.replace(result, content=warned))


def _warned(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (Warned(),)


def agent(brief: Brief) -> None:
    """The reference agent that compares its own warnings."""
    build(brief, guards=_warned).run()
