"""The reference agent with another way to take the user's answer to a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse

Take: TypeAlias = Callable[[Loop, ToolUse], ToolResult]


def play_asking(brief: Brief, take: Take) -> None:
    """Play the reference agent with `take` in place of its own handling of a gated call."""

    class Asking(Loop):
        def result_of_gated(self, call: ToolUse) -> ToolResult:
            return take(self, call)

    build(brief, turn=Asking).run()
