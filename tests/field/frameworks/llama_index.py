"""LlamaIndex: a FunctionAgent for each message, and a memory for each session."""

from __future__ import annotations

from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.types import ToolMetadata
from llama_index.core.workflow.errors import WorkflowRuntimeError
from llama_index.llms.openai import OpenAI
from openai import OpenAIError

from harness.adapters import answer_of


async def agent(brief: Any) -> None:
    """Its agents stream."""
    model = OpenAI(model="gpt-4o", api_key="x", async_openai_client=brief.async_openai())
    tools = [_tool(tool) for tool in brief.tools]
    memories: dict[str, ChatMemoryBuffer] = {}
    for message in brief.inbox():
        where = {"session": message.session, "in_reply_to": message.id}
        if message.session not in memories:
            memories[message.session] = ChatMemoryBuffer.from_defaults(token_limit=100_000)
        bot = FunctionAgent(tools=tools, llm=model)
        try:
            made = await bot.run(message.text, memory=memories[message.session])
        except (OpenAIError, WorkflowRuntimeError) as error:
            brief.send(f"Sorry: {error}", kind="error", **where)
            continue
        brief.send(str(made), **where)


def _tool(tool: Any) -> FunctionTool:
    class Offered(ToolMetadata):
        def get_parameters_dict(self) -> dict[str, Any]:
            return dict(tool.input_schema)

    def run(**given: Any) -> Any:
        return answer_of(tool, given)

    offered = Offered(name=tool.name, description=tool.description or tool.name)
    return FunctionTool(run, metadata=offered)
