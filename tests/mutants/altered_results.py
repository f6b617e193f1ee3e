"""The reference agent with tools whose results are changed before the model reads them."""

from __future__ import annotations

from collections.abc import Callable

from harness.agent import build
from harness.agent.composition import standard_tools
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse

Change = Callable[[ToolUse, ToolResult], ToolResult]
"""What becomes of the result of a call."""


class AlteredTools:
    """Tools with changed results."""

    def __init__(self, tools: Toolbox, change: Change) -> None:
        self._tools, self._change = tools, change

    def __getattr__(self, name: str) -> object:
        return getattr(self._tools, name)

    def prepared(self, prepare: object) -> AlteredTools:
        """The same tools, made ready."""
        return type(self)(self._tools.prepared(prepare), self._change)  # type: ignore[arg-type]

    def run(self, call: ToolUse) -> ToolResult:
        """The result of a call, changed."""
        return self._change(call, self._tools.run(call))


def play_with(brief: Brief, change: Change) -> None:
    """Run the reference agent with changed results."""
    build(brief, tools=AlteredTools(standard_tools(brief), change)).run()


def successes(change: Callable[[str], str]) -> Change:
    """A change of the text of each success."""

    def changed(call: ToolUse, result: ToolResult) -> ToolResult:
        return result if result.is_error else ToolResult(call.id, change(result.text))

    return changed
