"""An equal call is answered from one cache for all chats."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent import build
from harness.agent.toolbox import Toolbox
from harness.core.values.brief import Brief, Tool
from harness.core.values.messages import ToolResult, ToolUse, canonical
from tests.mutants import Mutant

MUTANT = Mutant(
    breaks="tools",
    statement="One user's result is another user's: the key of the cache lacks the session",
    scenario="chats-that-count-alike",
    killed_by="session_isolation.message",
)


class Caching(Toolbox):
    """Runs each call once."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self._results: dict[tuple[str, str], ToolResult] = {}

    def run(self, call: ToolUse) -> ToolResult:
        """The first result of an equal call."""
        key = call.name, canonical(call.input)
        if key not in self._results:
            self._results[key] = super().run(call)
        kept = self._results[key]
        return ToolResult(call.id, kept.content, kept.is_error)


def agent(brief: Brief) -> None:
    """The reference agent with one cache for all chats."""
    build(brief, tools=Caching(brief.tools)).run()
