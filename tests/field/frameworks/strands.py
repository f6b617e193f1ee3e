"""strands-agents: an Agent with its defaults. `connected` keeps its sessions in files of the run's
folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from strands import Agent
from strands.models.anthropic import AnthropicModel
from strands.session.file_session_manager import FileSessionManager

from harness.adapters import strands

_model = AnthropicModel(client_args={"api_key": "x"}, model_id="claude-sonnet-5", max_tokens=4096)


def _agent(tools: list[Any], kept: Any) -> Agent:
    return Agent(_model, tools=tools, session_manager=kept, callback_handler=None)


def _sessions(name: str, folder: Path) -> FileSessionManager:
    return FileSessionManager(quote(name, safe=""), storage_dir=str(folder / "sessions"))


agent = strands(_agent)
alone = Agent(_model, callback_handler=None)
connected = strands(_agent, _sessions, _agent)
