"""pydantic-ai with its defaults. Its history is a list in memory; a failed turn leaves none."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from harness import ToolError
from tests.strangers.frameworks.tool_answers import answer_of


class Answer(BaseModel):
    """A structured output."""

    city: str


def _model(brief: Any) -> Any:
    if brief.wire == "anthropic":
        provider = AnthropicProvider(anthropic_client=brief.async_anthropic())
        return AnthropicModel("claude-sonnet-4-5", provider=provider)
    kind = OpenAIResponsesModel if brief.wire == "openai-responses" else OpenAIChatModel
    return kind("gpt-5", provider=OpenAIProvider(openai_client=brief.async_openai()))


def _tool(tool: Any) -> Tool[Any]:
    def run(context: RunContext[Any], **given: Any) -> str:
        try:
            return answer_of(tool, given, context.tool_call_id or "")
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    return Tool.from_schema(run, tool.name, tool.description, tool.input_schema, takes_ctx=True)


async def _read(context: Any, events: Any) -> None:
    async for _ in events:
        pass


async def agent(brief: Any) -> None:
    """An agent with the tools of the brief."""
    bot = Agent(_model(brief), tools=[_tool(tool) for tool in brief.tools])
    await _converse(brief, bot, str)


async def structured(brief: Any) -> None:
    """An agent whose turns end by a structured output, in its default mode: a tool."""
    await _converse(brief, Agent(_model(brief), output_type=Answer), lambda output: output.city)


async def _converse(brief: Any, bot: Any, words: Any) -> None:
    histories: dict[str, Any] = {}
    handler = {"event_stream_handler": _read} if brief.options.get("stream") else {}
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        try:
            made = await bot.run(
                message.text, message_history=histories.get(message.session), **handler
            )
        except AgentRunError as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        histories[message.session] = made.all_messages()
        brief.send(words(made.output), **where)
