"""The reference agent with another way to hand up what a child said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from harness.agent import build
from harness.agent.agent_loop import Loop
from harness.agent.composition import standard_store
from harness.agent.task_tool import BackgroundTasks
from harness.core.values.brief import Brief
from harness.core.values.messages import ToolResult, ToolUse

Tell: TypeAlias = Callable[[ToolUse, ToolResult], ToolResult]


def play_telling(brief: Brief, tell: Tell) -> None:
    """Play the reference agent with `tell` between a child and the result of its call."""

    class Telling(Loop):
        def result_of(self, call: ToolUse, earlier: Sequence[ToolUse]) -> ToolResult:
            result = super().result_of(call, earlier)
            return tell(call, result) if call.name == "task" else result

    build(brief, turn=Telling, spawns=True).run()


def play_beside(brief: Brief, tasks: type[BackgroundTasks]) -> None:
    """Play the reference agent with children in the background that are handled otherwise."""
    store = standard_store(brief)
    build(brief, store=store, background=tasks("queue", store)).run()
