"""openai-agents: the Runner with its defaults and its SQLite session."""

from __future__ import annotations

import json
from typing import Any

import openai
from agents import (
    Agent,
    FunctionTool,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
)
from agents.exceptions import AgentsException

from harness import ToolError
from tests.strangers.frameworks.tool_answers import answer_of


def _tool(tool: Any) -> FunctionTool:
    async def run(context: Any, arguments: str) -> str:
        try:
            return answer_of(tool, json.loads(arguments or "{}"), context.tool_call_id)
        except ToolError as error:
            return f"Error: {error}"

    return FunctionTool(
        tool.name, tool.description, tool.input_schema, run, strict_json_schema=False
    )


async def _turn(bot: Any, text: str, session: Any, stream: bool) -> str:
    if not stream:
        return str((await Runner.run(bot, text, session=session)).final_output)
    running = Runner.run_streamed(bot, text, session=session)
    async for _ in running.stream_events():
        pass
    return str(running.final_output)


async def agent(brief: Any) -> None:
    """One agent, and a session of the framework for each of ours."""
    is_new = brief.wire == "openai-responses"
    kind = OpenAIResponsesModel if is_new else OpenAIChatCompletionsModel
    model = kind("gpt-5", brief.async_openai())
    tools = [_tool(tool) for tool in brief.tools]
    bot = Agent("bot", instructions="You are helpful.", model=model, tools=tools)
    sessions: dict[str, SQLiteSession] = {}
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        session = sessions.setdefault(message.session, SQLiteSession(message.session))
        try:
            text = await _turn(bot, message.text, session, bool(brief.options.get("stream")))
        except (AgentsException, openai.APIError) as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        brief.send(text, **where)
