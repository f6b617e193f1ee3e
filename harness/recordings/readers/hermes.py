"""Rows of a hermes `state.db` as messages: OpenAI Chat, a row a message, columns for its parts.

Structured content is JSON after a mark that no text contains. Compaction and undo set `active = 0`;
the model sees active rows in the order of their ids, because the clock may run backwards. Older
versions lack the column and compact into a child session. Source: NousResearch/hermes-agent,
hermes_state.py, versions 0.13 to 0.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message
from harness.providers.openai_chat.framework_messages import recorded_message
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings.tables import Row, Tables, bounded, has
from harness.recordings.transcripts import Recording, Transcript

_STRUCTURED = "\0json:"

COLUMNS = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "finish_reason",
    "reasoning", "reasoning_content", "platform_message_id", "active",
)  # fmt: skip
"""The columns of a row of `messages` that are read; a version may lack the last ones."""


class _SessionRows(msgspec.Struct):
    messages: list[Message] = []
    stops: dict[int, str] = {}


_SESSIONS = ("id", "model", "system_prompt")


def hermes(tables: Tables) -> Recording | None:
    """session of hermes' state.db.

    Raises InputError when no row is a message.
    """
    if not (has(tables, "messages", "role", "tool_calls") and tables.columns("sessions")):
        return None
    return recording(rows(tables), tables.rows("sessions", _SESSIONS, ("id",)))


def rows(database: Tables) -> Iterator[Row]:
    """The rows of the messages, in the order in which the model sees them."""
    return database.rows("messages", COLUMNS, ("id",))


def is_active(row: Row) -> bool:
    """Whether the model is shown the row; one that does not say so is shown."""
    return row.get("active") not in (0, "0")


def message(row: Row) -> Message:
    """The message of a row."""
    calls = f.arguments(row.get("tool_calls"))
    return recorded_message(
        {
            "role": f.text(row.get("role")) or "assistant",
            "content": _content(row.get("content")),
            "tool_call_id": row.get("tool_call_id"),
            "tool_calls": calls if isinstance(calls, list) else [],
            "reasoning_content": row.get("reasoning_content") or row.get("reasoning"),
        }
    )


def _content(content: Json) -> Json:
    if not isinstance(content, str):
        return None if content is None else str(content)
    if not content.startswith(_STRUCTURED):
        return content
    return f.arguments(content.removeprefix(_STRUCTURED))


def recording(rows: Iterable[Row], sessions: Iterable[Row]) -> Recording:
    """A transcript for each session, in the order of its first row.

    Raises InputError when no row is a message, and when there is more than can be held.
    """
    found: dict[str, _SessionRows] = {}
    for row in bounded(filter(is_active, rows), "messages"):
        session = found.setdefault(f.text(row.get("session_id")), _SessionRows())
        stop = f.text(row.get("finish_reason"))
        if stop and row.get("role") == "assistant":
            session.stops[len(session.messages)] = stop
        session.messages.append(message(row))
    if not found:
        raise InputError("the table `messages` has no active row", "messages")
    about = {f.text(row.get("id")): row for row in sessions}
    transcripts = (_transcript(name, held, about.get(name, {})) for name, held in found.items())
    return Recording(tuple(transcripts))


def _transcript(name: str, held: _SessionRows, about: Row) -> Transcript:
    return Transcript(
        name=name or "session",
        messages=tuple(held.messages),
        wire=RECORD.name,
        model=f.text(about.get("model")),
        system=f.text(about.get("system_prompt")),
        stops=held.stops,
    )
