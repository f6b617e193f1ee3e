"""Agents of openai-agents: their instructions, output, handoffs, guardrails and settings stay.

The tools of the scenario stand in place of the first agent's own. The model of each agent of the
run is of the wire, with a client of the brief. A session is a SQLiteSession in memory.
"""

from __future__ import annotations

import json
from typing import Any

from harness.adapters.shared.framework_agent import FrameworkAgent, answer_of, converse, sorry_for
from harness.core.values.brief import ToolError

_NAME = "gpt-5"


def openai_agents(agent: Any, **settings: Any) -> FrameworkAgent:
    """An agent of openai-agents; `settings` go to each `Runner.run`, as in `max_turns=5`."""

    async def play(brief: Any) -> None:
        from agents import RunConfig, SQLiteSession
        from agents.exceptions import AgentsException
        from openai import APIError

        bot = agent.clone(tools=[_tool(tool) for tool in brief.tools], mcp_servers=[])
        config = settings.get("run_config") or RunConfig()
        config.model, config.tracing_disabled = _model(brief, agent.model), True
        named = {**settings, "run_config": config}
        sessions: dict[str, SQLiteSession] = {}

        async def answer(message: Any) -> str:
            session = sessions.setdefault(message.session, SQLiteSession(message.session))
            return await _turn(brief, bot, message.text, {**named, "session": session})

        await converse(brief, answer, sorry_for(AgentsException, APIError))

    return FrameworkAgent("openai_agents", play, _wires(agent.model))


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
