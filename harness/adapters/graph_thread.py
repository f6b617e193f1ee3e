"""Compiled graphs of LangGraph: a thread of the graph is a session.

A graph holds its model and its tools for good. The model's own client is met at its URL (`mount`).
A tool of the scenario runs in place of the graph's tool of the same name. A function that makes the
graph of the tools that it is given plays every scenario. One that is given the run's folder too
keeps its checkpoints there: then a run may begin with a past and be killed. A tool that needs the
user's approval interrupts the graph, if it has a checkpointer: without one it cannot go on. A
cancel is seen before each call of a chat model, by a callback, and before each tool.
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
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    FrameworkAgent,
    TurnCancelled,
    adapted,
    answer_of,
    change_note,
    converse,
    decision_of,
    said_to,
    seed_of,
    sorry_for,
)
from harness.core.values.brief import ToolError
from harness.core.values.messages import Json, Message, Opaque, Text, ToolResult

_CALL: ContextVar[str] = ContextVar("call", default="")
_ASKS: ContextVar[bool] = ContextVar("asks", default=False)
_CANCELLED: ContextVar[Callable[[], bool]] = ContextVar("cancelled", default=lambda: False)

_LIBRARIES = {"langchain_anthropic": "anthropic", "langchain_openai": "openai-chat"}
"""The wire of each library of chat models."""


_NO_MESSAGES = (
    "the state of the graph has no messages, so it cannot be played as a chat; name a function "
    "from text to text that calls it"
)


def langgraph(
    graph: Any, config: Mapping[str, Any] | None = None, context: Any = None
) -> FrameworkAgent:
    """A compiled graph, or a function of a list of tools that returns one; a second parameter of
    the function is the folder for its checkpoints.

    `config` is that of each call, as in `{"recursion_limit": 40}`, and so is `context`. Without its
    own checkpointer a graph is called with all messages of the session.
    """
    given = dict(config or {})
    persists = inspect.isroutine(graph) and len(inspect.signature(graph).parameters) > 1

    async def play(brief: Any) -> None:
        if inspect.isroutine(graph):
            tools, folder = [_tool(tool) for tool in brief.tools], Path(brief.session_dir)
            made = graph(tools, folder) if persists else graph(tools)
            threads = Threads(brief, made, given, "" if persists else uuid.uuid4().hex)
            await _converse(brief, made, threads, context)
            return
        with _tools_in_place(graph, brief.tools):
            threads = Threads(brief, graph, given, uuid.uuid4().hex)
            await _converse(brief, graph, threads, context)

    return adapted("langgraph", play, persists, *_wires(), cancels=True)


def _wires() -> tuple[str, ...]:
    """The wire of the library of models that is imported, if it is one."""
    found = tuple(wire for module, wire in _LIBRARIES.items() if module in sys.modules)
    return found if len(found) == 1 else ()


class Threads:
    """The threads of a graph, one a session. `run` keeps those of a process apart; without it they
    are the same in each life."""

    def __init__(self, brief: Any, graph: Any, given: dict[str, Any], run: str) -> None:
        self._brief, self._graph, self._given, self._run = brief, graph, given, run
        self._began: set[str] = set()
        self.is_sync = False

    async def asked(self, message: Any, config: dict[str, Any]) -> list[Any]:
        """What the graph is called with, call by call: None where a killed call of this message
        waits to go on, which is LangGraph's own way to resume a thread. The answers to questions
        that are open come first."""
        given = [{"messages": [{"role": "user", "content": message.text}]}]
        if self._run:
            return given
        state = await self._state(config)
        is_again = message.attempt > 1 and bool(state.next)
        if asked := _questions(state):
            answers = await self._answers(asked, message.session)
            return [answers] if is_again else [answers, *given]
        return [None] if is_again else given

    async def said(self, config: dict[str, Any], session: str) -> Any:
        """What the user says to the questions that the thread is interrupted by; None without."""
        asked = _questions(await self._state(config))
        return await self._answers(asked, session) if asked else None

    async def _answers(self, asked: list[Any], session: str) -> Any:
        from langgraph.types import Command

        return Command(resume={each.id: await self._answer(each.value, session) for each in asked})

    async def _answer(self, asked: dict[str, Any], session: str) -> dict[str, Any]:
        name, input, id = asked["tool"], asked["input"], asked["id"]
        return decision_of(await said_to(self._brief, name, input, id=id, session=session))

    async def config(self, session: str) -> dict[str, Any]:
        """The configuration of a call in the thread of a session, which begins with its past."""
        name = f"{self._run}-{session}" if self._run else session
        named = {**self._given.get("configurable", {}), "thread_id": name}
        config = {**self._given, "configurable": named}
        if not self._run and session not in self._began:
            self._began.add(session)
            await self._begin(config, seed_of(self._brief) if session == "main" else [])
        return config

    async def _begin(self, config: dict[str, Any], past: list[Message]) -> None:
        state = await self._state(config)  # it shows too whether the saver has async methods
        if not past or state.values:
            return
        rows = {"messages": [row for message in past for row in _rows(message)]}
        if self.is_sync:
            self._graph.update_state(config, rows, as_node="__start__")
        else:
            await self._graph.aupdate_state(config, rows, as_node="__start__")

    async def _state(self, config: dict[str, Any]) -> Any:
        if not self.is_sync:
            try:
                return await self._graph.aget_state(config)
            except NotImplementedError:  # SqliteSaver has no async methods
                self.is_sync = True
        return self._graph.get_state(config)


def _questions(state: Any) -> list[Any]:
    """The interrupts of a thread, if all are those of our tools: a graph's own need its program."""
    asked = [*getattr(state, "interrupts", ())]  # older releases of langgraph have none
    is_ours = all(isinstance(each.value, dict) and "tool" in each.value for each in asked)
    return asked if is_ours else []


def _rows(message: Message) -> Iterator[dict[str, Json]]:
    """A message as the dicts that LangChain takes for messages. Thoughts are left out: their
    signatures are of the model that made them."""
    calls: list[Json] = [
        {"type": "tool_call", "id": use.id, "name": use.name, "args": use.input}
        for use in message.tool_uses
    ]
    for block in message.blocks:
        if isinstance(block, ToolResult):
            status = "error" if block.is_error else "success"
            row = {"role": "tool", "tool_call_id": block.id, "content": block.text}
            yield {**row, "status": status}
    said: list[Json] = [_part(b) for b in message.blocks if isinstance(b, Text | Opaque)]
    if said or calls:
        role = "user" if message.role == "user" else "assistant"
        content: Json = message.text if all(isinstance(b, Text) for b in message.blocks) else said
        yield {"role": role, "content": content, **({"tool_calls": calls} if calls else {})}


def _part(block: Text | Opaque) -> dict[str, Json]:
    return {"type": "text", "text": block.text} if isinstance(block, Text) else block.value


async def _converse(brief: Any, graph: Any, threads: Threads, context: Any) -> None:
    said = _context_of(graph) if context is None else context
    more = {} if said is None else {"context": said}  # older releases of langgraph have none
    histories: dict[str, list[Any]] = {}
    _ASKS.set(bool(graph.checkpointer))

    async def called(message: Any) -> Any:
        """The last state of the calls for a message, with the answers that the user gives."""
        config = await threads.config(message.session)
        calls = await threads.asked(message, config)
        config = {**config, "callbacks": _until_cancelled(config.get("callbacks"))}
        if not graph.checkpointer:
            calls[0]["messages"][:0] = histories.get(message.session, [])
        made: Any = None
        while calls:
            given = calls.pop(0)
            if threads.is_sync:
                made = _call_sync(brief, graph, given, config, more)
            else:
                made = await _call(brief, graph, given, config, more)
            if said := graph.checkpointer and await threads.said(config, message.session):
                calls.insert(0, said)
        return made

    async def answer(message: Any) -> str | None:
        _CANCELLED.set(lambda: bool(brief.cancelled(message.session)))
        try:
            made = await called(message)
        except TurnCancelled:
            return None
        if "messages" not in made:
            raise TypeError(_NO_MESSAGES)
        histories[message.session] = made["messages"]
        return _text(made["messages"][-1])

    # A provider's library may be imported only in a call, so its errors are looked up after one.
    await converse(brief, answer, lambda error: sorry_for(*_failures())(error))


def _until_cancelled(own: Any) -> Any:
    """The user's callbacks, and one that stops a graph before it asks its model."""
    from langchain_core.callbacks import BaseCallbackHandler

    class UntilCancelled(BaseCallbackHandler):  # type: ignore[misc]
        """LangChain logs what a callback raises, unless it says otherwise."""

        raise_error, run_inline = True, True

        def on_chat_model_start(self, *given: Any, **named: Any) -> None:
            if _CANCELLED.get()():
                raise TurnCancelled

    if own is None or isinstance(own, list):
        return [*(own or []), UntilCancelled()]
    made = own.copy()
    made.add_handler(UntilCancelled())
    return made


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


def _call_sync(brief: Any, graph: Any, asked: Any, config: Any, more: dict[str, Any]) -> Any:
    """As `_call`, for a checkpointer without async methods."""
    if not brief.options.get("stream"):
        return graph.invoke(asked, config, **more)
    last: Any = None
    for mode, state in graph.stream(asked, config, stream_mode=["values", "messages"], **more):
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
            if _CANCELLED.get()():
                raise ToolException(NOT_RUN)
            try:
                return _answer_of(self.inner, given)
            except ToolError as error:
                raise ToolException(str(error)) from error

    return OfferedTool


def _answer_of(tool: Any, given: dict[str, Any]) -> Any:
    """What the tool says, once the user has allowed the call. The framework begins the tool again
    for the answer, and `interrupt` returns it then."""
    if not (tool.needs_approval and _ASKS.get()):
        return answer_of(tool, given, _CALL.get())
    from langgraph.types import interrupt

    said = interrupt({"tool": tool.name, "id": _CALL.get(), "input": given})
    if "input" not in said:
        return said["refusal"]
    answer = answer_of(tool, said["input"], _CALL.get())
    if not (note := change_note(given, said["input"])):
        return answer
    if isinstance(answer, list):
        return [*answer, {"type": "text", "text": note}]
    return f"{answer} {note}"
