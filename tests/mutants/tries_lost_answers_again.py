"""The client of a tool tries again without an answer, even if the tool has an effect."""

from __future__ import annotations

from harness.agent import build
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="The answer of the mail server was lost, and the mail went out twice (incident 158)",
    scenario="two-emails",
    killed_by="effect_once.effect",
)


class Eager(Toolbox):
    """Runs a call again when it fails."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result of the second try, if there is one."""
        result = super().run(call)
        return super().run(call) if result.is_error else result


def agent(brief: Brief) -> None:
    """The reference agent with such tools."""
    build(brief, tools=Eager(brief.tools)).run()
