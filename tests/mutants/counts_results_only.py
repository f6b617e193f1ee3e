"""Equal results are a loop for any calls: eight files written are eight times "ok"."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.guards import EndTurn, Guard, Guide, Proceed, Refuse, RepeatGuard
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="A constant result stops calls whose arguments differ (hermes #60084, naive remedy)",
    scenario="circles/one-result-for-different-calls",
    killed_by="expect.outcome",
)


class ResultsOnly(RepeatGuard):
    """Does not look at arguments."""

    def before(self, call: ToolUse) -> Proceed | Refuse | EndTurn:
        """Whether the tool may run."""
        return super().before(msgspec.structs.replace(call, input={}))

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Remember the tool and the result."""
        return super().after(msgspec.structs.replace(call, input={}), result)


def _results_only(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ResultsOnly(),)


def agent(brief: Brief) -> None:
    """The reference agent with a breaker that counts results."""
    build(brief, guards=_results_only).run()
