"""Compiled graphs of LangGraph: a thread of the graph is a session.

A graph holds its model and its tools for good. The model's own client is met at its URL (`mount`).
A tool of the scenario runs in place of the graph's tool of the same name. A function that makes the
graph of the tools that it is given plays every scenario. One that is given the run's folder too
keeps its checkpoints there: then a run may begin with a past and be killed. A tool that needs the
user's approval interrupts the graph, if it has a checkpointer: without one it cannot go on. A
cancel is seen before each call of a chat model, by a callback, and before each tool.
"""

from __future__ import annotations

import inspect
import random
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    FrameworkAgent,
    TurnCancelled,
    adapted,
    converse,
    decision_of,
    said_to,
    seed_of,
    sorry_for,
)
from harness.adapters.shared.graph_tools import ASKS, CANCELLED, offered_tool, tools_in_place
from harness.adapters.shared.sub_agents import Task
from harness.core.values.messages import Json, Message, Opaque, Text, ToolResult

_LIBRARIES = {"langchain_anthropic": "anthropic", "langchain_openai": "openai-chat"}
"""The wire of each library of chat models."""


_NO_MESSAGES = (
    "the state of the graph has no messages, so it cannot be played as a chat; name a function "
    "from text to text that calls it"
)


def langgraph(
    graph: Any,
    config: Mapping[str, Any] | None = None,
    context: Any = None,
    helper: Callable[..., Any] | None = None,
) -> FrameworkAgent:
    """A compiled graph, or a function of a list of tools that returns one; a second parameter of
    the function is the folder for its checkpoints.

    `config` is that of each call, as in `{"recursion_limit": 40}`, and so is `context`. Without its
    own checkpointer a graph is called with all messages of the session. `helper` makes the graph
    that the tool `task` calls, of its tools, and the path and headers of its model.
    """
    given = dict(config or {})
    persists = inspect.isroutine(graph) and len(inspect.signature(graph).parameters) > 1

    async def play(brief: Any) -> None:
        if inspect.isroutine(graph):
            more = [_task(brief, helper)] if helper else []
            tools = [offered_tool(tool) for tool in (*brief.tools, *more)]
            folder = Path(brief.session_dir)
            made = graph(tools, folder) if persists else graph(tools)
            threads = Threads(brief, made, given, "" if persists else uuid.uuid4().hex)
            await _converse(brief, made, threads, context)
            return
        with tools_in_place(graph, brief.tools):
            threads = Threads(brief, graph, given, uuid.uuid4().hex)
            await _converse(brief, graph, threads, context)

    helps = bool(helper)
    return adapted("langgraph", play, persists, *_wires(), cancels=True, helps=helps)


def _task(brief: Any, helper: Callable[..., Any]) -> Task:
    def alone(child: Any) -> Any:
        tools = [offered_tool(tool) for tool in brief.tools]
        graph = helper(tools, child.path, child.headers)
        threads = Threads(child, graph, {}, f"{random.getrandbits(64):016x}")
        threads.is_sync = True  # as the tool that calls it
        return _chat(child, graph, threads, None)

    return Task(brief, alone, _sorry)


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
    # A provider's library may be imported only in a call, so its errors are looked up after one.
    await converse(brief, _chat(brief, graph, threads, context), _sorry)


def _sorry(error: Exception) -> str | None:
    return sorry_for(*_failures())(error)


def _chat(
    brief: Any, graph: Any, threads: Threads, context: Any
) -> Callable[[Any], Awaitable[str | None]]:
    """What answers a message with calls of a graph."""
    said = _context_of(graph) if context is None else context
    more = {} if said is None else {"context": said}  # older releases of langgraph have none
    histories: dict[str, list[Any]] = {}

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
        CANCELLED.set(lambda: bool(brief.cancelled(message.session)))
        ASKS.set(bool(graph.checkpointer))
        try:
            made = await called(message)
        except TurnCancelled:
            return None
        if "messages" not in made:
            raise TypeError(_NO_MESSAGES)
        histories[message.session] = made["messages"]
        return _text(made["messages"][-1])

    return answer


def _until_cancelled(own: Any) -> Any:
    """The user's callbacks, and one that stops a graph before it asks its model."""
    from langchain_core.callbacks import BaseCallbackHandler

    class UntilCancelled(BaseCallbackHandler):  # type: ignore[misc]
        """LangChain logs what a callback raises, unless it says otherwise."""

        raise_error, run_inline = True, True

        def on_chat_model_start(self, *given: Any, **named: Any) -> None:
            if CANCELLED.get()():
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
