"""smolagents' ToolCallingAgent with its defaults."""

from __future__ import annotations

from smolagents import OpenAIModel, ToolCallingAgent

agent = ToolCallingAgent([], OpenAIModel("gpt-5", api_key="x"), verbosity_level=0)
