"""google-adk: an Agent with its defaults, and a session service in memory. `connected` keeps its
sessions in the run's folder."""

from __future__ import annotations

from google.adk.agents import Agent
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from harness.adapters import google_adk

_bot = Agent(
    name="bot", model=AnthropicLlm(model="claude-sonnet-5"), instruction="You are helpful."
)
agent = google_adk(_bot)
connected = google_adk(_bot, lambda folder: SqliteSessionService(str(folder / "adk.db")))
