"""A tool's failure becomes a result like any other, with nothing in it."""

from __future__ import annotations

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.conversation.projection import NO_TEXT
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="A failure with an empty body looks like a success (HKUDS/nanobot#2298)",
    scenario="failure-looks-like-success",
    killed_by="error_visible.reworded",
)


class Smooth:
    """Tools that never fail."""

    def __init__(self, tools: Toolbox) -> None:
        self._tools = tools

    def __getattr__(self, name: str) -> object:
        return getattr(self._tools, name)

    def prepared(self, prepare: object) -> Smooth:
        """The same tools, made ready."""
        return Smooth(self._tools.prepared(prepare))  # type: ignore[arg-type]

    def run(self, call: ToolUse) -> ToolResult:
        """The result, without the bad news."""
        result = self._tools.run(call)
        return ToolResult(call.id, NO_TEXT) if result.is_error else result


def agent(brief: Brief) -> None:
    """The reference agent whose tools hide their errors."""
    build(brief, tools=Smooth(standard_tools(brief))).run()
