"""langchain's create_agent with a saver in memory. Its models take no transport: mount them."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langgraph.checkpoint.memory import InMemorySaver

from harness.adapters import langgraph


def _graph(tools: list[Any]) -> Any:
    model = ChatAnthropic(model="claude-sonnet-4-5", api_key="x")
    return create_agent(model, tools, checkpointer=InMemorySaver())


agent = langgraph(_graph)
