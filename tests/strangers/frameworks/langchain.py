"""langchain's create_agent with a saver in memory. Its models take no transport: mount them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import anthropic
import openai
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import BaseTool, ToolException
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError

from harness import ToolError
from tests.strangers.frameworks.tool_answers import answer_of

_CALL: ContextVar[str] = ContextVar("call", default="")

_FAILURES = (anthropic.AnthropicError, openai.OpenAIError, GraphRecursionError)


class OfferedTool(BaseTool):
    """A tool of the brief; the framework tells the id of a call to `run` alone."""

    handle_tool_error: Any = True
    inner: Any = None

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **rest: Any) -> Any:
        """Run it, and keep the id of the call."""
        _CALL.set(tool_call_id or "")
        return super().run(tool_input, *args, tool_call_id=tool_call_id, **rest)

    def _run(self, **given: Any) -> str:
        given.pop("run_manager", None)
        given.pop("config", None)
        try:
            return answer_of(self.inner, given, _CALL.get())
        except ToolError as error:
            raise ToolException(str(error)) from error


def _tool(tool: Any) -> OfferedTool:
    description = tool.description or tool.name
    return OfferedTool(
        name=tool.name, description=description, args_schema=tool.input_schema, inner=tool
    )


def _model(brief: Any) -> Any:
    stream = bool(brief.options.get("stream"))
    if brief.wire == "anthropic":
        return ChatAnthropic(model="claude-sonnet-4-5", api_key="x", streaming=stream)
    is_new = brief.wire == "openai-responses"
    return ChatOpenAI(model="gpt-5", api_key="x", use_responses_api=is_new, streaming=stream)


def agent(brief: Any) -> None:
    """One graph, and a thread of it for each session."""
    tools = [_tool(tool) for tool in brief.tools]
    graph = create_agent(_model(brief), tools, checkpointer=InMemorySaver())
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        asked = {"messages": [{"role": "user", "content": message.text}]}
        try:
            made = graph.invoke(asked, {"configurable": {"thread_id": message.session}})
        except _FAILURES as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        brief.send(made["messages"][-1].text, **where)
