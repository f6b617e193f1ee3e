"""Failures are counted over the whole turn: a success between them does not reset the count."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, Guide, IdenticalFailureGuard, Proceed, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="The counter of failures survives a success (seeds 2)",
    scenario="identical-failures/fails-between-successes",
    killed_by="no_false_stop",
)


class OnlyFailures(IdenticalFailureGuard):
    """Learns only of failures."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Leave a success out."""
        return super().after(call, result) if result.is_error else Proceed()


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (OnlyFailures(), RepeatGuard())


def agent(brief: Brief) -> None:
    """The reference agent whose counters only grow."""
    build(brief, guards=_guards).run()
