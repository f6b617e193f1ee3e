"""Agents of pydantic-ai: their instructions, output, settings and retries stay.

The tools of the scenario stand in place of the agent's own. The model is of the agent's class and
name, with a client of the brief. The history of a session is a list in memory; a failed turn leaves
none.
"""

from __future__ import annotations

import importlib
from typing import Any

from harness.adapters.shared.framework_agent import FrameworkAgent, answer_of, converse, sorry_for
from harness.core.values.brief import ToolError

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


def pydantic_ai(agent: Any, **settings: Any) -> FrameworkAgent:
    """An agent of pydantic-ai; `settings` go to each `agent.run`, as in `deps=...`."""
    wire = _wire_of(agent.model)

    async def play(brief: Any) -> None:
        from pydantic_ai.exceptions import AgentRunError
        from pydantic_ai.toolsets import FunctionToolset

        offered = FunctionToolset([_tool(tool) for tool in brief.tools])
        histories: dict[str, Any] = {}
        handler = {"event_stream_handler": _read} if brief.options.get("stream") else {}

        async def answer(message: Any) -> str:
            history = histories.get(message.session)
            made = await agent.run(message.text, message_history=history, **handler, **settings)
            histories[message.session] = made.all_messages()
            return _words(made.output)

        with agent.override(model=_model(brief, agent.model), tools=[], toolsets=[offered]):
            await converse(brief, answer, sorry_for(AgentRunError))

    return FrameworkAgent("pydantic_ai", play, (wire,) if wire else ())


def _wire_of(model: Any) -> str:
    """The wire of an agent's own model; "" where it has none, or one of another provider."""
    if isinstance(model, str):
        return _PREFIXES.get(model.partition(":")[0], "")
    parents = {parent.__name__ for parent in type(model).__mro__}
    return next((wire for wire, (_, name) in _MODELS.items() if name in parents), "")


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
    from pydantic_ai import ModelRetry, RunContext, Tool

    def run(context: RunContext[Any], **given: Any) -> Any:
        try:
            return answer_of(tool, given, context.tool_call_id or "")
        except ToolError as error:
            raise ModelRetry(str(error)) from error

    return Tool.from_schema(run, tool.name, tool.description, tool.input_schema, takes_ctx=True)


def _words(output: Any) -> str:
    """An output as text: a structured one as JSON."""
    if isinstance(output, str):
        return output
    from pydantic_core import to_json

    return to_json(output, serialize_unknown=True).decode()


async def _read(context: Any, events: Any) -> None:
    async for _ in events:
        pass
