"""openai-agents: the Runner with its defaults and its SQLite session, on either API of OpenAI."""

from __future__ import annotations

from agents import Agent, OpenAIChatCompletionsModel
from openai import AsyncOpenAI

agent = Agent("bot", instructions="You are helpful.")
chat = agent.clone(model=OpenAIChatCompletionsModel("gpt-5", AsyncOpenAI(api_key="x")))
