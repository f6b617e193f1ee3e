"""openai-agents: the Runner with its defaults and its SQLite session."""

from __future__ import annotations

from agents import Agent

agent = Agent("bot", instructions="You are helpful.")
