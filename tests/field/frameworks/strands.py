"""strands-agents: an Agent for each session, which keeps its messages."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
from strands import Agent
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.tools.tools import PythonAgentTool
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from harness import ToolError
from harness.adapters import answer_of

_FAILURES = (
    EventLoopException, MaxTokensReachedException, ContextWindowOverflowException,
    ModelThrottledException, anthropic.AnthropicError, openai.OpenAIError,
)  # fmt: skip


async def agent(brief: Any) -> None:
    """Its models always stream."""
    tools, bots = [_tool(tool) for tool in brief.tools], dict[str, Agent]()
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        if message.session not in bots:
            bots[message.session] = Agent(_model(brief), tools=tools, callback_handler=None)
        try:
            made = await bots[message.session].invoke_async(message.text)
        except _FAILURES as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        whole = made.stop_reason in ("end_turn", "stop_sequence")
        brief.send(str(made), kind="final" if whole else "error", **where)


def _model(brief: Any) -> Any:
    if brief.wire == "openai-chat":
        return OpenAIModel(client=brief.async_openai(), model_id="gpt-5")
    model = AnthropicModel(
        client_args={"api_key": "x"}, model_id="claude-sonnet-4-5", max_tokens=4000
    )
    model.client = brief.async_anthropic()
    return model


def _tool(tool: Any) -> PythonAgentTool:
    def run(asked: Any, **_: Any) -> Any:
        id = asked["toolUseId"]
        try:
            text, status = answer_of(tool, asked["input"], id), "success"
        except ToolError as error:
            text, status = str(error), "error"
        return {"toolUseId": id, "status": status, "content": [{"text": str(text)}]}

    spec = {"name": tool.name, "description": tool.description or tool.name,
            "inputSchema": {"json": tool.input_schema}}  # fmt: skip
    return PythonAgentTool(tool.name, spec, run)
