"""Sessions of agno, as its databases keep them: a run a row, with the messages that it added.

A run begins with the system's message, and repeats earlier messages where the agent sends the
history along. These are marked. Source: agno 3.1, db/sqlite; agno 2 keeps the runs of a session in
its row.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f
from harness.recordings.chat_messages import transcript_of
from harness.recordings.tables import Row, Tables, bounded, has, named, sessions
from harness.recordings.transcripts import Recording, Refusal, Transcript

_RUN = ("session_id", "run_index", "run_data")
_SESSION = ("session_id", "runs")

_Object = dict[str, Json]


def agno_sessions(tables: Tables) -> Recording | None:
    """session of agno, as it keeps it in SQLite.

    Raises InputError when no session holds a message.
    """
    if has(tables, "agno_runs", *_RUN):
        rows = bounded(tables.rows("agno_runs", _RUN, _RUN[:2]), "agno_runs")
        found = (
            (name, [_value(row["run_data"]) for row in held]) for name, held in groupby(rows, _name)
        )
    elif has(tables, "agno_sessions", *_SESSION):
        rows = bounded(tables.rows("agno_sessions", _SESSION, _SESSION[:1]), "agno_sessions")
        found = ((_name(row), f.listed(_value(row["runs"]))) for row in rows)
    else:
        return None
    return sessions(_session(name, f.objects(runs)) for name, runs in found)


def _name(row: Row) -> str:
    return str(row["session_id"])


def _value(text: Json) -> Json:
    """The JSON of a column; agno 2 wrote the JSON of a text that is JSON."""
    value = f.parse(f.text(text))
    return f.parse(value) if isinstance(value, str) else value


def _session(name: str, runs: Iterable[_Object]) -> Transcript | Refusal:
    said = [
        _marked(message)
        for n, run in enumerate(runs)
        for message in f.objects(run.get("messages"))
        if not (message.get("from_history") is True or (n and message.get("role") == "system"))
    ]
    return named(name, transcript_of(name, {"messages": said}), name)


def _marked(message: _Object) -> _Object:
    """The message with the mark of a failed tool under the name that other frameworks give it."""
    return {**message, "status": "error"} if message.get("tool_call_error") is True else message
