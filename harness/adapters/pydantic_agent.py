"""Agents of pydantic-ai: their instructions, output, settings and retries stay.

The tools of the scenario stand in place of the agent's own. The model is of the agent's class and
name, with a client of the brief. The history of a session is a list in memory, or a conversation in
the user's own ConversationStore: then a run may begin with a past and be killed. A failed turn
leaves none in either. A cancel is the framework's own, seen before each request and each tool, and
at each event of a stream. What the run has done till then is kept.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    FrameworkAgent,
    adapted,
    answer_of,
    converse,
    refusal_of,
    said_to,
    seed_of,
    sorry_for,
    wire_of_class,
    with_pictures,
)
from harness.adapters.shared.sub_agents import Task
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Message, Opaque, Text, ToolResult, ToolUse

_MODELS = {
    "anthropic": ("anthropic", "AnthropicModel"),
    "openai-chat": ("openai", "OpenAIChatModel"),
    "openai-responses": ("openai", "OpenAIResponsesModel"),
}
"""The module and the class of the model of each wire."""

_PREFIXES = {
    "anthropic": "anthropic",
    "openai-chat": "openai-chat",
    "openai": "openai-responses",
    "openai-responses": "openai-responses",
}
"""The wire that a model's name in text begins with."""

_NAMES = {"anthropic": "claude-sonnet-5"}


def pydantic_ai(
    agent: Any,
    store: Callable[[Path], Any] | None = None,
    helper: Any = None,
    **settings: Any,
) -> FrameworkAgent:
    """An agent of pydantic-ai; `settings` go to each `agent.run`, as in `deps=...`.

    `store` makes the ConversationStore of a folder. Before each run of the agent a conversation is
    loaded, and after it saved, as the framework's own page says. `helper` is an agent to which the
    tool `task` delegates.
    """
    wire = _wire_of(agent.model)

    async def play(brief: Any) -> None:
        from pydantic_ai.exceptions import AgentRunError

        kept = store(Path(brief.session_dir)) if store else None
        sorry = sorry_for(AgentRunError)
        more = [Task(brief, lambda child: _chat(child, helper, None, {}), sorry)] if helper else []
        await converse(brief, _chat(brief, agent, kept, settings, more), sorry)

    return adapted("pydantic_ai", play, store, wire, cancels=True, helps=bool(helper))


def _chat(
    brief: Any, agent: Any, kept: Any, settings: dict[str, Any], more: Sequence[Any] = ()
) -> Callable[[Any], Awaitable[str | None]]:
    """What answers a message with an agent, its tools those of the scenario and `more`."""
    from pydantic_ai.toolsets import FunctionToolset

    offered = FunctionToolset([_tool(tool) for tool in (*brief.tools, *more)])
    given = dict(settings)
    if any(tool.needs_approval for tool in brief.tools):
        given["output_type"] = [agent.output_type, _deferred().DeferredToolRequests]
    sessions = Conversations(brief, agent, kept, given)

    async def answer(message: Any) -> str | None:
        with agent.override(model=_model(brief, agent.model), tools=[], toolsets=[offered]):
            return await sessions.answer(message)

    return answer


def _deferred() -> Any:
    return importlib.import_module("pydantic_ai.tools")


class Conversations:
    """The sessions of a run: lists of messages, or conversations in a store."""

    def __init__(self, brief: Any, agent: Any, store: Any, given: dict[str, Any]) -> None:
        self._brief, self._agent, self._store, self._given = brief, agent, store, given
        self._histories: dict[str, Any] = {}

    async def answer(self, message: Any) -> str | None:
        """The words for a message; None for a turn that the user has cancelled."""
        from pydantic_ai.exceptions import RunCancelled

        try:
            return await self._answer(message)
        except RunCancelled as stopped:
            await self._keep(message.session, stopped.all_messages())
            return None

    async def _answer(self, message: Any) -> str:
        """The words for a message. A run that ends with questions goes on with their answers."""
        name, asked = message.session, None
        if self._store:
            asked = (await self._loaded(name)).deferred_tool_requests
        while True:
            more = {"deferred_tool_results": await self._asked(asked, name)} if asked else {}
            made = await self._run(None if asked else message.text, name, more)
            if not isinstance(made.output, _deferred().DeferredToolRequests):
                return _words(made.output)
            asked = made.output

    async def _run(self, prompt: str | None, name: str, more: dict[str, Any]) -> Any:
        given = {**self._given, **more}
        given["capabilities"] = [*given.get("capabilities", ()), self._until_cancelled(name)]
        if self._brief.options.get("stream"):
            given["event_stream_handler"] = partial(self._read, name)
        if self._store:
            made = await self._agent.run(prompt, conversation=await self._loaded(name), **given)
            await self._store.save(made)
            return made
        history = self._histories.get(name)
        made = await self._agent.run(prompt, message_history=history, **given)
        self._histories[name] = made.all_messages()
        return made

    async def _keep(self, name: str, messages: list[Any]) -> None:
        """Keep what a cancelled run has done; its open calls are closed, as the framework wants."""
        from pydantic_ai.messages import repair_messages

        messages = repair_messages(messages)
        if not self._store:
            self._histories[name] = messages
            return
        loaded = await self._loaded(name)
        await self._store.save(replace(loaded, messages=messages, deferred_tool_requests=None))

    def _until_cancelled(self, name: str) -> Any:
        """What stops a run before a request or a tool, once the user has cancelled the turn."""
        from pydantic_ai.capabilities import Hooks

        async def goes_on(context: Any) -> None:
            if self._brief.cancelled(name):
                context.cancel()
                await asyncio.Event().wait()  # the framework ends this wait

        async def asks(context: Any, request: Any) -> Any:
            await goes_on(context)
            return request

        async def runs(context: Any, *, args: Any, **_: Any) -> Any:
            await goes_on(context)
            return args

        hooks = Hooks()
        hooks.on.before_model_request(asks)
        hooks.on.before_tool_execute(runs)
        return hooks

    async def _read(self, name: str, context: Any, events: Any) -> None:
        async for _ in events:
            if self._brief.cancelled(name):
                context.cancel()

    async def _loaded(self, name: str) -> Any:
        from pydantic_ai.conversation import Conversation
        from pydantic_ai.messages import repair_messages

        loaded = await self._store.load(name)
        if loaded is not None:
            return loaded
        past = seed_of(self._brief) if name == "main" else []
        # A run refuses a new prompt behind open calls; the framework's page says to close them.
        return Conversation(conversation_id=name, messages=repair_messages(_rows(past)))

    async def _asked(self, asked: Any, session: str) -> Any:
        """What the user says to each call of a run that waits for it."""
        kinds, said = _deferred(), {}
        for call in asked.approvals:
            input, id = call.args_as_dict(), call.tool_call_id
            answer = await said_to(self._brief, call.tool_name, input, id=id, session=session)
            if answer.answer == "allow":
                said[id] = kinds.ToolApproved(override_args=answer.input)
            else:
                said[id] = kinds.ToolDenied(refusal_of(answer))
        return asked.build_results(approvals=said)


def _rows(past: list[Message]) -> list[Any]:
    """The past as messages of pydantic-ai. Thoughts are left out: their signatures are of the model
    that made them."""
    from pydantic_ai import messages as kinds

    names = {use.id: use.name for message in past for use in message.tool_uses}
    rows = []
    for message in past:
        is_user = message.role == "user"
        parts = [part for block in message.blocks for part in _part(block, is_user, names, kinds)]
        rows.append((kinds.ModelRequest if is_user else kinds.ModelResponse)(parts=parts))
    return rows


def _part(block: Block, is_user: bool, names: dict[str, str], kinds: Any) -> Iterator[Any]:
    match block:
        case Text(text):
            yield kinds.UserPromptPart(text) if is_user else kinds.TextPart(text)
        case ToolUse(id, name, input):
            args = input if isinstance(input, dict | str) else json.dumps(input)
            yield kinds.ToolCallPart(name, args, tool_call_id=id)
        case ToolResult(id):
            outcome = "failed" if block.is_error else "success"
            name = names.get(id, "unknown")  # a past may hold a result whose call is lost
            yield kinds.ToolReturnPart(name, block.text, tool_call_id=id, outcome=outcome)
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            picture = kinds.BinaryContent(base64.b64decode(data), media_type=kind)
            yield kinds.UserPromptPart([picture])
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no history takes")


def _wire_of(model: Any) -> str:
    """The wire of an agent's own model; "" where it has none, or one of another provider."""
    if isinstance(model, str):
        return _PREFIXES.get(model.partition(":")[0], "")
    return wire_of_class(model, {wire: name for wire, (_, name) in _MODELS.items()})


def _model(brief: Any, own: Any) -> Any:
    module, name = _MODELS[brief.wire]
    kind = getattr(importlib.import_module(f"pydantic_ai.models.{module}"), name)
    providers = importlib.import_module(f"pydantic_ai.providers.{module}")
    if module == "anthropic":
        provider = providers.AnthropicProvider(anthropic_client=brief.async_anthropic())
    else:
        provider = providers.OpenAIProvider(openai_client=brief.async_openai())
    usual = _NAMES.get(brief.wire, "gpt-5")
    if _wire_of(own) != brief.wire:
        return kind(usual, provider=provider)
    if isinstance(own, str):
        return kind(own.partition(":")[2] or usual, provider=provider)
    return type(own)(own.model_name, provider=provider, settings=own.settings)


def _tool(tool: Any) -> Any:
    from pydantic_ai import BinaryContent, ModelRetry, RunContext, Tool

    def picture(data: bytes, kind: str) -> Any:
        return BinaryContent(data, media_type=kind)

    def run(context: RunContext[Any], **given: Any) -> Any:
        try:
            return with_pictures(answer_of(tool, given, context.tool_call_id or ""), picture)
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    async def delegate(context: RunContext[Any], **given: Any) -> Any:
        try:
            return await tool.answer(given, context.tool_call_id or "")
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    work = delegate if isinstance(tool, Task) else run
    made = Tool.from_schema(work, tool.name, tool.description, tool.input_schema, takes_ctx=True)
    made.requires_approval = tool.needs_approval
    return made


def _words(output: Any) -> str:
    """An output as text: a structured one as JSON."""
    if isinstance(output, str):
        return output
    from pydantic_core import to_json

    return to_json(output, serialize_unknown=True).decode()
