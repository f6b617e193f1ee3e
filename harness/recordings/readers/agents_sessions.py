"""Sessions of openai-agents: a row for each item of the Responses API, as the model is sent it.

`SQLiteSession` and `SQLAlchemySession` keep the same two tables. Source: openai-agents 0.24,
memory/sqlite_session.py.
"""

from __future__ import annotations

from itertools import groupby

from harness.providers.shared import json_fields as f
from harness.recordings.chat_messages import transcript_of
from harness.recordings.tables import Row, Tables, bounded, has, named, sessions
from harness.recordings.transcripts import Recording, Refusal, Transcript

_ITEMS = ("id", "session_id", "message_data")


def agents_sessions(tables: Tables) -> Recording | None:
    """session of openai-agents, as it keeps it in SQLite.

    Raises InputError when no session holds a message.
    """
    if not has(tables, "agent_messages", *_ITEMS):
        return None
    rows = bounded(tables.rows("agent_messages", _ITEMS, ("session_id", "id")), "agent_messages")
    return sessions(_session(name, [*held]) for name, held in groupby(rows, _name))


def _name(row: Row) -> str:
    return str(row["session_id"])


def _session(name: str, rows: list[Row]) -> Transcript | Refusal:
    items = [f.parse(f.text(row["message_data"])) for row in rows]
    return named(name, transcript_of(name, {"input": items}), name)
