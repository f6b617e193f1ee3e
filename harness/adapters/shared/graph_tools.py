"""The tools of a scenario as tools of LangChain, for a graph that holds its own for good.

A tool that needs the user's approval interrupts the graph, and runs once it is resumed. What the
framework tells no tool comes in variables of the context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from harness.adapters.shared.framework_agent import NOT_RUN, answer_of, change_note
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError

CALL: ContextVar[str] = ContextVar("call", default="")
"""The id of the model's call."""

ASKS: ContextVar[bool] = ContextVar("asks", default=False)
"""Whether the graph can be interrupted."""

CANCELLED: ContextVar[Callable[[], bool]] = ContextVar("cancelled", default=lambda: False)
"""Tells whether the user has cancelled the turn."""


@contextmanager
def tools_in_place(graph: Any, tools: list[Any]) -> Iterator[None]:
    """Within, each tool of the scenario runs in place of the graph's tool of its name."""
    own = [node.bound.tools_by_name for node in graph.nodes.values() if _has_tools(node.bound)]
    before = [dict(named) for named in own]
    try:
        for named in own:
            named.update({tool.name: offered_tool(tool) for tool in tools if tool.name in named})
        yield
    finally:
        for named, former in zip(own, before, strict=True):
            named.update(former)


def _has_tools(bound: Any) -> bool:
    return isinstance(getattr(bound, "tools_by_name", None), dict)


def offered_tool(tool: Any) -> Any:
    """A tool of the scenario, or the one that makes a sub-agent, as the framework takes it."""
    description = tool.description or tool.name
    return _kind()(
        name=tool.name, description=description, args_schema=tool.input_schema, inner=tool
    )


@cache
def _kind() -> Callable[..., Any]:
    from langchain_core.tools import BaseTool, ToolException

    class OfferedTool(BaseTool):  # type: ignore[misc]
        """A tool of the brief; the framework tells the id of a call to `arun` and `run` alone."""

        handle_tool_error: Any = True
        inner: Any = None

        def run(self, tool_input: Any, *args: Any, tool_call_id: Any = None, **rest: Any) -> Any:
            CALL.set(tool_call_id or "")
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **rest)

        async def arun(
            self, tool_input: Any, *args: Any, tool_call_id: Any = None, **rest: Any
        ) -> Any:
            CALL.set(tool_call_id or "")
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **rest)

        async def _arun(self, **given: Any) -> Any:
            return await asyncio.to_thread(self._run, **given)

        def _run(self, **given: Any) -> Any:
            given.pop("run_manager", None)
            given.pop("config", None)
            if CANCELLED.get()():
                raise ToolException(NOT_RUN)
            try:
                return _answer_of(self.inner, given)
            except ToolError as error:
                raise ToolException(str(error)) from error

    return OfferedTool


def _answer_of(tool: Any, given: dict[str, Any]) -> Any:
    """What the tool says, once the user has allowed the call. The framework begins the tool again
    for the answer, and `interrupt` returns it then."""
    if isinstance(tool, Task):  # no event loop runs here, in a thread of the framework's or ours
        return tool.answer_at_once(given, CALL.get())
    if not (tool.needs_approval and ASKS.get()):
        return answer_of(tool, given, CALL.get())
    from langgraph.types import interrupt

    said = interrupt({"tool": tool.name, "id": CALL.get(), "input": given})
    if "input" not in said:
        return said["refusal"]
    answer = answer_of(tool, said["input"], CALL.get())
    if not (note := change_note(given, said["input"])):
        return answer
    if isinstance(answer, list):
        return [*answer, {"type": "text", "text": note}]
    return f"{answer} {note}"
