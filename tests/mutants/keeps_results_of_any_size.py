"""Nothing caps what a tool may say, so one result is larger than the window in every request."""

from __future__ import annotations

from functools import partial

from harness.agent import build
from harness.agent.context_overflow import Escalation
from harness.agent.toolbox import Toolbox, error_result
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="One tool output of 1.94 million letters ended the session (incidents 60)",
    scenario="one-huge-output",
    killed_by="request_fits.result",
)


class Uncapped(Toolbox):
    """Hands on the whole result of a tool."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result, however long."""
        try:
            value = self._call(self._tools[call.name], call)
        except Exception as error:
            return error_result(call, str(error))
        return ToolResult(call.id, str(value))


def agent(brief: Brief) -> None:
    """The reference agent that makes nothing smaller."""
    build(brief, tools=Uncapped(brief.tools), overflow=partial(Escalation, stages=())).run()
