"""Counters are cleared by the beginning of a name: a success of `read` clears `read_file`.

Nothing else watches, as in the original: it had no eye for circles.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, Guide, IdenticalFailureGuard, Proceed
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="Clearing by prefix takes the counters of another tool with it (seeds 9)",
    scenario="identical-failures/harmless-success-between",
    killed_by="no_progress_stop.cycle",
)


class ClearedByPrefix(IdenticalFailureGuard):
    """After a success, forgets the failures of every tool whose name begins like that one's."""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Clear what begins with the name."""
        if result.is_error:
            return super().after(call, result)
        for counters in (self._of_tool, self._of_call):
            for name in [key for key in counters if key.startswith(call.name)]:
                del counters[name]
        return Proceed()


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ClearedByPrefix(),)


def agent(brief: Brief) -> None:
    """The reference agent that clears by prefix."""
    build(brief, guards=_guards).run()
