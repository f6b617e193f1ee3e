"""openai-agents: the Runner with its defaults and its SQLite session, on either API of OpenAI.
`connected` keeps the session in the run's folder."""

from __future__ import annotations

from agents import Agent, OpenAIChatCompletionsModel, SQLiteSession
from openai import AsyncOpenAI

from harness.adapters import openai_agents

agent = Agent("bot", instructions="You are helpful.")
chat = agent.clone(model=OpenAIChatCompletionsModel("gpt-5", AsyncOpenAI(api_key="x")))
connected = openai_agents(
    agent, lambda name, folder: SQLiteSession(name, folder / "agent.db"), agent
)
