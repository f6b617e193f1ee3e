"""google-adk: an Agent with its defaults, and a session service in memory. `connected` keeps its
sessions in the run's folder. `compacting` shortens them before they fill the small windows of
scenarios, and asks for a summary in few words, for which such windows have room."""

from __future__ import annotations

from pathlib import Path

from google.adk.agents import Agent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from harness.adapters import google_adk

_bot = Agent(
    name="bot", model=AnthropicLlm(model="claude-sonnet-5"), instruction="You are helpful."
)
agent = google_adk(_bot)
_words = "The following is a conversation history between a user and an AI agent. Summarize it.\n"
_compaction = EventsCompactionConfig(
    token_threshold=200,
    event_retention_size=1,
    summarizer=LlmEventSummarizer(_bot.model, _words + "{conversation_history}"),
)


def _service(folder: Path) -> SqliteSessionService:
    return SqliteSessionService(str(folder / "adk.db"))


connected = google_adk(_bot, _service, _bot)
compacting = google_adk(
    App(name="bot", root_agent=_bot, events_compaction_config=_compaction), _service
)
