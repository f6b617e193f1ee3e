"""A call with an unknown name runs the tool with the nearest one."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant
from tests.mutants.altered_results import AlteredTools

MUTANT = Mutant(
    breaks="tools",
    statement="`read_files` runs `read_file`, as `delete_all` may run `delete` (faults M9 and M10)",
    scenario="almost-the-right-name/with-one-letter-more",
    killed_by="args_complete.other_tool",
)


class Nearest(AlteredTools):
    """Tools that answer to names like theirs."""

    def run(self, call: ToolUse) -> ToolResult:
        """The result of the tool with the nearest name."""
        names = [spec.name for spec in self._tools.specs]
        near = get_close_matches(call.name, names, 1)
        return super().run(msgspec.structs.replace(call, name=near[0]) if near else call)


def agent(brief: Brief) -> None:
    """The reference agent that runs the nearest tool."""
    build(brief, tools=Nearest(standard_tools(brief), lambda call, result: result)).run()
