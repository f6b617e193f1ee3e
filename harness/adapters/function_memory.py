"""Agents of LlamaIndex: a FunctionAgent's prompts, limits and settings stay, a message is a run.

The tools of the scenario stand in place of the agent's own, and its model has a client of the
brief. Each session has a memory: in this process, or one that the user's own function makes in the
run's folder. Then a run may begin with a past and be killed, and a memory that summarises, or
extracts facts, asks the model of the brief. A cancel is the framework's own, and is seen at each
event of a run. A tool that needs the user's approval waits for an event, as the framework's page
says. The framework tells a tool no id of its call: a question gets it of the event of the call.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    NOT_RUN,
    SESSION,
    FrameworkAgent,
    adapted,
    answer_of,
    api_error,
    change_note,
    converse,
    decision_of,
    said_to,
    seed_of,
    sorry_for,
    wire_of_class,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Message, Opaque, Text, ToolResult, ToolUse

_CLASSES = {"openai-chat": "OpenAI"}


def llama_index(
    agent: Any,
    memory: Callable[[str, Path], Any] | None = None,
    helper: Any = None,
    *,
    sums_up: bool = False,
    **settings: Any,
) -> FrameworkAgent:
    """A FunctionAgent of LlamaIndex; `settings` go to each run of it, as in `max_iterations=9`.

    `memory` makes the memory of a session in a folder, as in `lambda name, folder:
    Memory.from_defaults(name, async_database_uri=f"sqlite+aiosqlite:///{folder}/memory.db")`.
    `helper` is an agent that the tool `task` runs. `sums_up`: the memory asks a model for
    summaries.
    """
    wire = wire_of_class(getattr(agent, "llm", None), _CLASSES)

    async def play(brief: Any) -> None:
        from llama_index.core.workflow.errors import WorkflowRuntimeError

        def alone(child: Any) -> Any:
            return Chat(child, _agent_of(child, helper), None, {}).answer

        sorry = sorry_for(WorkflowRuntimeError, api_error(brief.wire))
        bot = _agent_of(brief, agent, [Task(brief, alone, sorry)] if helper else [])
        await converse(brief, Chat(brief, bot, memory, settings).answer, sorry)

    at, helps = 0 if sums_up else None, bool(helper)
    return adapted("llama_index", play, memory, wire, cancels=True, compacts=at, helps=helps)


class Chat:
    """The sessions of a run, a memory each."""

    def __init__(
        self,
        brief: Any,
        bot: Any,
        memory: Callable[[str, Path], Any] | None,
        settings: dict[str, Any],
    ) -> None:
        self._brief, self._bot, self._memory = brief, bot, memory
        self._settings = settings
        self._memories: dict[str, Any] = {}

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        from llama_index.core.workflow.errors import WorkflowCancelledByUser

        if self._brief.cancelled(message.session):
            return None
        kept = self._memories.get(message.session) or await self._began(message.session)
        running = self._bot.run(user_msg=message.text, memory=kept, **self._settings)
        # Beside the run: the events of one that fails do not always end.
        watching = asyncio.ensure_future(self._watch(running, message.session))
        try:
            return str(await running)
        except WorkflowCancelledByUser:
            return None
        finally:
            watching.cancel()

    async def _watch(self, running: Any, session: str) -> None:
        """Cancel a run at its next event, once the user has cancelled the turn, and answer what
        its tools ask."""
        from llama_index.core.agent.workflow import ToolCall
        from llama_index.core.workflow.events import InputRequiredEvent

        calls: dict[str, Any] = {}
        async for event in running.stream_events():
            if self._brief.cancelled(session):
                await running.cancel_run()
            elif isinstance(event, InputRequiredEvent) and event.get("asked"):
                running.ctx.send_event(await self._answer(event, calls, session))
            elif type(event) is ToolCall:  # told again as the step begins again
                calls.setdefault(event.tool_id, (event.tool_name, event.tool_kwargs))

    async def _answer(self, event: Any, calls: dict[str, Any], session: str) -> Any:
        """What the user says, as the event for which the tool waits. A call is asked about once."""
        from llama_index.core.workflow.events import HumanResponseEvent

        id = next((i for i, call in calls.items() if call == (event.tool, event.input)), "")
        calls[id] = None
        said = await said_to(self._brief, event.tool, event.input, id=id, session=session)
        return HumanResponseEvent(asked=event.asked, **decision_of(said))

    async def _began(self, name: str) -> Any:
        """The memory of a session, which begins with the past of the scenario."""
        from llama_index.core.memory import ChatMemoryBuffer

        if self._memory is None:
            kept = ChatMemoryBuffer.from_defaults(token_limit=100_000)
        else:
            kept = self._memory(name, Path(self._brief.session_dir))
            for part in (kept, *getattr(kept, "memory_blocks", ())):
                if own := getattr(part, "llm", None):
                    part.llm = _model(self._brief, own)
            past = seed_of(self._brief) if name == "main" else []
            if past and not await kept.aget_all():
                await kept.aput_messages([row for message in past for row in _rows(message)])
        self._memories[name] = kept
        return kept


def _rows(message: Message) -> Iterator[Any]:
    """A message as messages of LlamaIndex: each result is one. Thoughts are left out: their
    signatures are of the model that made them."""
    from llama_index.core.base.llms import types

    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    others = [block for block in message.blocks if not isinstance(block, ToolResult)]
    for result in results:
        where = {"tool_call_id": result.id}
        yield types.ChatMessage(role="tool", content=result.text, additional_kwargs=where)
    if said := [part for block in others for part in _part(block, types)]:
        yield types.ChatMessage(role=message.role, blocks=said)


def _part(block: Block, types: Any) -> Iterator[Any]:
    match block:
        case Text(text):
            yield types.TextBlock(text=text)
        case ToolUse(id, name, input):
            kwargs = input if isinstance(input, dict | str) else {"input": input}
            yield types.ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=kwargs)
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            picture = base64.b64decode(str(data))
            yield types.ImageBlock(image=picture, image_mimetype=str(kind))
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no memory takes")


def _agent_of(brief: Any, own: Any, more: Sequence[Any] = ()) -> Any:
    """An agent with the settings of one, the tools of the scenario and `more`, and a client of the
    brief."""
    given = {name: getattr(own, name) for name in type(own).model_fields}
    given["llm"] = _model(brief, own.llm)
    given["tools"] = [_tool(brief, tool) for tool in (*brief.tools, *more)]
    given["streaming"] = bool(brief.options.get("stream"))
    return type(own)(**given, timeout=None)


def _model(brief: Any, own: Any) -> Any:
    """A model of the wire with a client of the brief: a copy of the agent's own, if it is one."""
    if wire_of_class(own, _CLASSES) == brief.wire:
        made = own.model_copy()
    else:
        from llama_index.llms.openai import OpenAI

        made = OpenAI(model="gpt-5", api_key="unused")
    made._client, made._aclient = brief.openai(), brief.async_openai()
    return made


def _tool(brief: Any, tool: Any) -> Any:
    from llama_index.core.base.llms.types import ImageBlock, TextBlock
    from llama_index.core.tools import FunctionTool
    from llama_index.core.tools.types import ToolMetadata
    from llama_index.core.workflow import Context

    def picture(data: bytes, kind: str) -> Any:
        return ImageBlock(image=data, image_mimetype=kind)

    def text(words: str) -> Any:
        return TextBlock(text=words)

    class Offered(ToolMetadata):  # type: ignore[misc]
        """The framework takes a schema from a class alone."""

        def get_parameters_dict(self) -> dict[str, Any]:
            return dict(tool.input_schema)

    async def run(**given: Any) -> Any:
        if brief.cancelled(SESSION.get()):
            raise ToolError(NOT_RUN)
        if isinstance(tool, Task):
            return await tool.answer(given)
        return with_pictures(answer_of(tool, given), picture, text)

    async def asks(_context: Any, **given: Any) -> Any:
        said = await _said(_context, tool.name, given)
        if said.get("input") is None:
            return said.refusal
        answer = await run(**said.input)
        note = change_note(given, said.input)
        return f"{answer} {note}" if note else answer

    offered = Offered(name=tool.name, description=tool.description or tool.name)
    if not tool.needs_approval:
        return FunctionTool(async_fn=run, metadata=offered)
    asks.__annotations__["_context"] = Context  # by this the framework knows where it is wanted
    return FunctionTool(async_fn=asks, metadata=offered)


async def _said(context: Any, tool: str, given: dict[str, Any]) -> Any:
    """What the user says to a call. The framework begins the step again for the answer, and the
    wait returns it then. A tool knows its input alone: two equal calls at once are one question."""
    from llama_index.core.workflow.events import HumanResponseEvent, InputRequiredEvent

    asked = f"{tool} {json.dumps(given, sort_keys=True)}"
    return await context.wait_for_event(
        HumanResponseEvent,
        waiter_event=InputRequiredEvent(asked=asked, tool=tool, input=given),
        waiter_id=asked,
        requirements={"asked": asked},
        timeout=None,
    )
