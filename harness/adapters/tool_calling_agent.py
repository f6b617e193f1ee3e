"""ToolCallingAgents of smolagents: prompts, step limit, checks and callbacks stay.

The tools of the scenario stand in place of the agent's own, beside `final_answer`. The model asks
for a tool in each answer, so plain words of the script become a call of `final_answer`.
"""

from __future__ import annotations

import copy
import uuid
from typing import Any

from harness.adapters.shared.framework_agent import (
    FrameworkAgent,
    answer_of,
    converse,
    in_one_step,
    sorry_for,
)

_NAME = "gpt-5"
_TYPES = {"string", "boolean", "integer", "number", "array", "object"}


def smolagents(agent: Any, **settings: Any) -> FrameworkAgent:
    """A ToolCallingAgent; `settings` go to each `agent.run`, as in `max_steps=5`."""

    def play(brief: Any) -> None:
        from smolagents.utils import AgentError

        bots: dict[str, Any] = {}

        async def answer(message: Any) -> str:
            is_first = message.session not in bots
            bot = bots.setdefault(message.session, _copy(agent, brief))
            return str(bot.run(message.text, reset=is_first, **settings))

        in_one_step(converse(brief, answer, sorry_for(AgentError)))

    return FrameworkAgent("smolagents", play)


def _copy(agent: Any, brief: Any) -> Any:
    """The agent with its own memory, the tools of the brief, and a model of the brief."""
    from smolagents.memory import AgentMemory
    from smolagents.monitoring import Monitor

    bot = copy.copy(agent)
    bot.model = _model(brief, agent.model)
    final = {name: tool for name, tool in agent.tools.items() if name == "final_answer"}
    bot.tools = {tool.name: _tool(tool) for tool in brief.tools} | final
    bot.memory, bot.monitor = AgentMemory(bot.system_prompt), Monitor(bot.model, bot.logger)
    bot.state = {}
    return bot


def _model(brief: Any, own: Any) -> Any:
    from smolagents import OpenAIModel
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

    class Model(OpenAIModel):  # type: ignore[misc]
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

    return Model(str(getattr(own, "model_id", "") or _NAME))


def _inputs(schema: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        name: {
            # A schema may list several types, which the framework cannot say.
            "type": kind
            if isinstance(kind := value.get("type"), str) and kind in _TYPES
            else "any",
            "description": name,
            "nullable": name not in required,
        }
        for name, value in schema.get("properties", {}).items()
    }


def _tool(tool: Any) -> Any:
    from smolagents import Tool

    class Offered(Tool):  # type: ignore[misc]
        name = tool.name
        description = tool.description or tool.name
        inputs = _inputs(tool.input_schema)
        output_type = "any"
        skip_forward_signature_validation = True

        def forward(self, **given: Any) -> Any:
            return answer_of(tool, given)

    return Offered()
