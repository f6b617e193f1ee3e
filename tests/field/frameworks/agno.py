"""agno: an Agent with the whole history of its session added, and a database in memory.

`connected` keeps its sessions in the run's folder. It compacts one that the API refuses as too
long, as `compaction=True` does, and keeps one run as it is. `each_batch` stores a run after each
round of tools too."""

from __future__ import annotations

from pathlib import Path

from agno.agent import Agent
from agno.compaction import Compaction
from agno.db.sqlite import SqliteDb
from agno.models.anthropic import Claude

from harness.adapters import agno

_model = Claude(id="claude-sonnet-5", api_key="x")
_settings = {"add_history_to_context": True, "num_history_runs": 100, "telemetry": False}


def _database(folder: Path) -> SqliteDb:
    return SqliteDb(db_file=str(folder / "agno.db"))


agent = Agent(model=_model, **_settings)
_compaction = Compaction(on_context_overflow=True, uncompacted_runs=1)
connected = agno(Agent(model=_model, compaction=_compaction, **_settings), _database, agent)
each_batch = agno(Agent(model=_model, checkpoint="tool-batch", **_settings), _database)
