"""smolagents' ToolCallingAgent. It ends by its tool final_answer: plain words become that call."""

from __future__ import annotations

import uuid
from typing import Any

from smolagents import OpenAIModel, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.utils import AgentError

from tests.strangers.frameworks.tool_answers import answer_of

_TYPES = {"string", "boolean", "integer", "number", "array", "object"}


def _model(brief: Any) -> Any:
    class Model(OpenAIModel):
        def create_client(self) -> Any:
            return brief.openai()

        def generate(self, *args: Any, **settings: Any) -> Any:
            reply = super().generate(*args, **settings)
            if not reply.tool_calls and reply.content:
                given = {"answer": reply.content}
                call = ChatMessageToolCallFunction(name="final_answer", arguments=given)
                id = uuid.uuid4().hex
                reply.tool_calls = [ChatMessageToolCall(id=id, type="function", function=call)]
            return reply

    return Model("gpt-4o")


def _inputs(schema: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        name: {
            "type": kind if (kind := value.get("type")) in _TYPES else "any",
            "description": name,
            "nullable": name not in required,
        }
        for name, value in schema.get("properties", {}).items()
    }


def _tool(tool: Any) -> Tool:
    class Offered(Tool):
        name = tool.name
        description = tool.description or tool.name
        inputs = _inputs(tool.input_schema)
        output_type = "any"
        skip_forward_signature_validation = True

        def forward(self, **given: Any) -> str:
            return answer_of(tool, given)

    return Offered()


def agent(brief: Any) -> None:
    """One agent for each session; it keeps its memory from message to message."""
    bots: dict[str, Any] = {}
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        is_first = message.session not in bots
        if is_first:
            tools = [_tool(tool) for tool in brief.tools]
            bots[message.session] = ToolCallingAgent(tools, _model(brief), verbosity_level=0)
        try:
            said = bots[message.session].run(message.text, reset=is_first)
        except AgentError as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        brief.send(str(said), **where)
