"""Compiled graphs of LangGraph: a thread of the graph is a session.

A graph holds its model and its tools for good. The model's own client is met at its URL (`mount`).
A tool of the scenario runs in place of the graph's tool of the same name. A function that makes the
graph of the tools that it is given plays every scenario.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from harness.adapters.shared.framework_agent import FrameworkAgent, answer_of, converse, sorry_for
from harness.core.values.brief import ToolError

_CALL: ContextVar[str] = ContextVar("call", default="")

_LIBRARIES = {"langchain_anthropic": "anthropic", "langchain_openai": "openai-chat"}
"""The wire of each library of chat models."""


_NO_MESSAGES = (
    "the state of the graph has no messages, so it cannot be played as a chat; name a function "
    "from text to text that calls it"
)


def langgraph(
    graph: Any, config: Mapping[str, Any] | None = None, context: Any = None
) -> FrameworkAgent:
    """A compiled graph, or a function of a list of tools that returns one.

    `config` is that of each call, as in `{"recursion_limit": 40}`, and so is `context`. Without its
    own checkpointer a graph is called with all messages of the session.
    """
    given = dict(config or {})

    async def play(brief: Any) -> None:
        if inspect.isroutine(graph):
            made = graph([_tool(tool) for tool in brief.tools])
            await _converse(brief, made, given, context)
            return
        with _tools_in_place(graph, brief.tools):
            await _converse(brief, graph, given, context)

    return FrameworkAgent("langgraph", play, _wires())


def _wires() -> tuple[str, ...]:
    """The wire of the library of models that is imported, if it is one."""
    found = tuple(wire for module, wire in _LIBRARIES.items() if module in sys.modules)
    return found if len(found) == 1 else ()


async def _converse(brief: Any, graph: Any, given: dict[str, Any], context: Any) -> None:
    said = _context_of(graph) if context is None else context
    more = {} if said is None else {"context": said}  # older releases of langgraph have none
    run = uuid.uuid4().hex
    histories: dict[str, list[Any]] = {}

    async def answer(message: Any) -> str:
        asked = {"role": "user", "content": message.text}
        history = [] if graph.checkpointer else histories.get(message.session, [])
        named = {**given.get("configurable", {}), "thread_id": f"{run}-{message.session}"}
        config = {**given, "configurable": named}
        made = await _call(brief, graph, {"messages": [*history, asked]}, config, more)
        if "messages" not in made:
            raise TypeError(_NO_MESSAGES)
        histories[message.session] = made["messages"]
        return _text(made["messages"][-1])

    # A provider's library may be imported only in a call, so its errors are looked up after one.
    await converse(brief, answer, lambda error: sorry_for(*_failures())(error))


def _context_of(graph: Any) -> Any:
    """The context with its defaults, which LangGraph's own server gives a graph that has a class
    of contexts; None where that class needs values."""
    kind = getattr(graph, "context_schema", None)
    try:
        return kind() if kind else None
    except TypeError:
        return None


async def _call(brief: Any, graph: Any, asked: Any, config: Any, more: dict[str, Any]) -> Any:
    """The last state of a call. Where pieces of messages are asked for, its models stream."""
    if not brief.options.get("stream"):
        return await graph.ainvoke(asked, config, **more)
    last: Any = None
    modes = ["values", "messages"]
    async for mode, state in graph.astream(asked, config, stream_mode=modes, **more):
        last = state if mode == "values" else last
    return last


def _text(message: Any) -> str:
    text = message.text
    return str(text() if inspect.ismethod(text) else text)


def _failures() -> tuple[type[Exception], ...]:
    """What a graph raises when a model's provider or the graph's own limit refuses."""
    from langgraph.errors import GraphRecursionError

    found: list[type[Exception]] = [GraphRecursionError]
    for package, name in (("anthropic", "AnthropicError"), ("openai", "OpenAIError")):
        if package in sys.modules:
            found.append(getattr(sys.modules[package], name))
    return tuple(found)


@contextmanager
def _tools_in_place(graph: Any, tools: list[Any]) -> Iterator[None]:
    """Within, each tool of the scenario runs in place of the graph's tool of its name."""
    own = [node.bound.tools_by_name for node in graph.nodes.values() if _has_tools(node.bound)]
    before = [dict(named) for named in own]
    try:
        for named in own:
            named.update({tool.name: _tool(tool) for tool in tools if tool.name in named})
        yield
    finally:
        for named, former in zip(own, before, strict=True):
            named.update(former)


def _has_tools(bound: Any) -> bool:
    return isinstance(getattr(bound, "tools_by_name", None), dict)


def _tool(tool: Any) -> Any:
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
            _CALL.set(tool_call_id or "")
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **rest)

        async def arun(
            self, tool_input: Any, *args: Any, tool_call_id: Any = None, **rest: Any
        ) -> Any:
            _CALL.set(tool_call_id or "")
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **rest)

        async def _arun(self, **given: Any) -> Any:
            return await asyncio.to_thread(self._run, **given)

        def _run(self, **given: Any) -> Any:
            given.pop("run_manager", None)
            given.pop("config", None)
            try:
                return answer_of(self.inner, given, _CALL.get())
            except ToolError as error:
                raise ToolException(str(error)) from error

    return OfferedTool
