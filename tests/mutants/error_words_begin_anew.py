"""The breaker compares the words of errors: a call that fails in other words counts from one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.guards import Guard, Guide, IdenticalFailureGuard, Proceed
from harness.agent.guards.guard_protocol import result_words
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolSpec, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="guards",
    statement="One call that fails with another error each time runs twenty times (seeds 1, 102)",
    scenario="fails-in-other-words",
    killed_by="no_progress_stop.failing_call",
)


class ByWords(IdenticalFailureGuard):
    """Forgets all streaks when the error says something else."""

    _last = ""

    def after(self, call: ToolUse, result: ToolResult) -> Proceed | Guide:
        """Count a failure with the words of the last one."""
        if result.is_error and result_words(result) != self._last:
            self._of_call.clear()
            self._of_tool.clear()
            self._last = result_words(result)
        return super().after(call, result)


def _guards(tools: Sequence[ToolSpec]) -> Sequence[Guard]:
    return (ByWords(),)


def agent(brief: Brief) -> None:
    """The reference agent with that breaker."""
    build(brief, guards=_guards).run()
