"""No tool runs, and each call is answered with a success."""

from __future__ import annotations

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import AlteredTools

MUTANT = Mutant(
    breaks="tools",
    statement="A call that never ran is answered with a success",
    scenario="what-the-tools-said/two-at-once",
    killed_by="result_carried.invented",
)


class _Invented(AlteredTools):
    def prepared(self, prepare: object) -> _Invented:
        return self

    def run(self, call: ToolUse) -> ToolResult:
        if call.name == "look_up":
            return ToolResult(call.id, "Everything is in order.")
        return super().run(call)


def agent(brief: Brief) -> None:
    """The reference agent whose second tool never runs."""
    build(brief, tools=_Invented(standard_tools(brief), lambda call, result: result)).run()
