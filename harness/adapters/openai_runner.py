"""Agents of openai-agents: their instructions, output, handoffs, guardrails and settings stay.

The tools of the scenario stand in place of the first agent's own. The model of each agent of the
run is of the wire, with a client of the brief. A session is a SQLiteSession in memory, or what the
user's own function makes in the run's folder: then a run may begin with a past and be killed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.adapters.shared.framework_agent import (
    LACKS,
    PERSISTENT,
    FrameworkAgent,
    answer_of,
    converse,
    seed_of,
    sorry_for,
)
from harness.core.values.brief import ToolError
from harness.core.values.messages import Block, Json, Message, Opaque, Text, ToolResult, ToolUse

_NAME = "gpt-5"


def openai_agents(
    agent: Any, sessions: Callable[[str, Path], Any] | None = None, **settings: Any
) -> FrameworkAgent:
    """An agent of openai-agents; `settings` go to each `Runner.run`, as in `max_turns=5`.

    `sessions` makes the Session of a name in a folder, as in
    `lambda name, folder: SQLiteSession(name, folder / "agent.db")`.
    """

    async def play(brief: Any) -> None:
        from agents import RunConfig, SQLiteSession
        from agents.exceptions import AgentsException
        from openai import APIError

        bot = agent.clone(tools=[_tool(tool) for tool in brief.tools], mcp_servers=[])
        config = settings.get("run_config") or RunConfig()
        config.model, config.tracing_disabled = _model(brief, agent.model), True
        named = {**settings, "run_config": config}
        made: dict[str, Any] = {}

        async def session_of(name: str) -> Any:
            if name in made:
                return made[name]
            if sessions is None:
                made[name] = SQLiteSession(name)
            else:
                made[name] = sessions(name, Path(brief.session_dir))
                await _begin(made[name], seed_of(brief) if name == "main" else [])
            return made[name]

        async def answer(message: Any) -> str:
            session = await session_of(message.session)
            return await _turn(brief, bot, message.text, {**named, "session": session})

        await converse(brief, answer, sorry_for(AgentsException, APIError))

    capabilities = LACKS if sessions is None else PERSISTENT
    return FrameworkAgent("openai_agents", play, _wires(agent.model), capabilities)


async def _begin(session: Any, past: list[Message]) -> None:
    """Put the past of a scenario into a session that is new."""
    if past and not await session.get_items(limit=1):
        await session.add_items([item for message in past for item in _items(message)])


def _items(message: Message) -> Iterator[dict[str, Json]]:
    """A message as the items of the Responses API, which the framework stores for either API.

    Thoughts are left out: their signatures are of the provider that made them.
    """
    if said := [part for block in message.blocks for part in _part(block)]:
        is_plain = all("text" in part for part in said)
        yield {"role": message.role, "content": message.text if is_plain else said}
    for block in message.blocks:
        match block:
            case ToolUse(id, name, input):
                call = {"type": "function_call", "call_id": id, "name": name}
                yield {**call, "arguments": json.dumps(input)}
            case ToolResult(id):
                yield {"type": "function_call_output", "call_id": id, "output": block.text}


def _part(block: Block) -> Iterator[dict[str, Json]]:
    match block:
        case Text(text):
            yield {"type": "input_text", "text": text}
        case Opaque("image", {"source": {"type": "base64", "media_type": kind, "data": data}}):
            yield {"type": "input_image", "image_url": f"data:{kind};base64,{data}"}
        case Opaque(kind):
            raise TypeError(f"the past holds a block of the kind {kind}, which no session takes")


def _wires(model: Any) -> tuple[str, ...]:
    """The wire of an agent's own model; a name is of the default, which is Responses."""
    if isinstance(model, str) or model is None:
        return ("openai-responses",)
    kind = type(model).__name__
    return {
        "OpenAIChatCompletionsModel": ("openai-chat",),
        "OpenAIResponsesModel": ("openai-responses",),
    }.get(kind, ())


def _model(brief: Any, own: Any) -> Any:
    from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel

    is_new = brief.wire == "openai-responses"
    kind = OpenAIResponsesModel if is_new else OpenAIChatCompletionsModel
    named = own if isinstance(own, str) else str(getattr(own, "model", "") or _NAME)
    return kind(named, brief.async_openai())


def _tool(tool: Any) -> Any:
    from agents import FunctionTool

    async def run(context: Any, arguments: str) -> Any:
        try:
            return answer_of(tool, json.loads(arguments or "{}"), context.tool_call_id)
        except ToolError as error:
            return f"Error: {error}"

    return FunctionTool(
        tool.name, tool.description, tool.input_schema, run, strict_json_schema=False
    )


async def _turn(brief: Any, bot: Any, text: str, settings: dict[str, Any]) -> str:
    from agents import Runner

    if not brief.options.get("stream"):
        return str((await Runner.run(bot, text, **settings)).final_output)
    running = Runner.run_streamed(bot, text, **settings)
    async for _ in running.stream_events():
        pass
    return str(running.final_output)
