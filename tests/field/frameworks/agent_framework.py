"""agent-framework: an Agent with its defaults. `connected` keeps its sessions in files of the run's
folder. `each_call` keeps its history there too, after each call of the model."""

from __future__ import annotations

from pathlib import Path

from agent_framework import Agent, FileHistoryProvider, FileSessionStore
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from harness.adapters import agent_framework

_client = OpenAIChatCompletionClient(model="gpt-5", async_client=AsyncOpenAI(api_key="x"))


def _sessions(folder: Path) -> FileSessionStore:
    return FileSessionStore(folder / "sessions")


def _history(folder: Path) -> FileHistoryProvider:
    return FileHistoryProvider(folder / "history")


agent = Agent(client=_client, instructions="You are helpful.")
connected = agent_framework(agent, _sessions, helper=agent)
each_call = agent_framework(
    Agent(
        client=_client,
        instructions="You are helpful.",
        require_per_service_call_history_persistence=True,
    ),
    _sessions,
    _history,
)
