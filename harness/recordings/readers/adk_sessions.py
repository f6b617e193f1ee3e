"""Sessions of google-adk, as its services keep them in SQLite: an event a row, with its content.

Both services keep the event as JSON, the one for SQLAlchemy since its second schema. Source:
google-adk 2.13, sessions/sqlite_session_service.py and sessions/schemas/v1.py.
"""

from __future__ import annotations

from itertools import groupby

from harness.providers.shared import json_fields as f
from harness.recordings.chat_messages import transcript_of
from harness.recordings.tables import Row, Tables, bounded, has, named, sessions
from harness.recordings.transcripts import Recording, Refusal, Transcript

_KEY = ("app_name", "user_id", "session_id")
_EVENT = (*_KEY, "timestamp", "event_data")


def adk_sessions(tables: Tables) -> Recording | None:
    """session of google-adk, as it keeps it in SQLite.

    Raises InputError when no session holds a message.
    """
    if not has(tables, "events", *_EVENT):
        return None
    rows = bounded(tables.rows("events", _EVENT, (*_KEY, "timestamp")), "events")
    return sessions(_session(name, [*held]) for name, held in groupby(rows, _name))


def _name(row: Row) -> str:
    return "/".join(str(row[name]) for name in _KEY)


def _session(name: str, rows: list[Row]) -> Transcript | Refusal:
    events = (f.mapping(f.parse(f.text(row["event_data"]))) for row in rows)
    contents = [event["content"] for event in events if f.mapping(event.get("content"))]
    return named(name, transcript_of(name, {"contents": contents}), str(rows[0]["session_id"]))
