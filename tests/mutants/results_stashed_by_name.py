"""Outputs wait in a queue of their tool's name; one that is not fetched shifts all that follow."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

import msgspec

from harness.agent import build
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import ToolResult, ToolUse
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="Outputs are attached to the wrong call, off by one (seeds 38, 39)",
    scenario="identical-failures/own-result-each",
    killed_by="history_faithful.swapped_result",
)


class StashedByName(Toolbox):
    """Fetches a result from the queue of its tool."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._waiting: defaultdict[str, deque[str]] = defaultdict(deque)

    def run(self, call: ToolUse) -> ToolResult:
        """Run a call; a failure is answered at once, and its output stays in the queue."""
        result = super().run(call)
        self._waiting[call.name].append(result.text)
        if result.is_error:
            return result
        return msgspec.structs.replace(result, content=self._waiting[call.name].popleft())


def agent(brief: Brief) -> None:
    """The reference agent whose results are known by tool alone."""
    build(brief, tools=StashedByName(brief.tools)).run()
