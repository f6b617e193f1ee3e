"""Rows of a hermes `state.db` as messages: OpenAI Chat, a row a message, columns for its parts.

Structured content is JSON after a mark that no text contains. Compaction and undo set `active = 0`;
the model sees active rows in the order of their ids, because the clock may run backwards. Older
versions lack the column and compact into a child session. Source: NousResearch/hermes-agent,
hermes_state.py, versions 0.13 to 0.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message
from harness.providers.openai_chat.framework_messages import recorded_message
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings.half_read import with_doubts
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import MAX_KEPT_BYTES
from harness.recordings.transcripts import Recording, Transcript, readable

MAGIC = b"SQLite format 3\0"
"""How every SQLite database begins."""

_STRUCTURED = "\0json:"

COLUMNS = (
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "finish_reason",
    "reasoning", "reasoning_content", "platform_message_id", "active",
)  # fmt: skip
"""The columns of a row of `messages` that are read; a version may lack the last ones."""

_Row = Mapping[str, Json]


class _SessionRows(msgspec.Struct):
    messages: list[Message] = []
    stops: dict[int, str] = {}


def is_hermes(data: bytes) -> bool:
    """Whether the bytes are a database."""
    return data.startswith(MAGIC)


@recognised_by(is_hermes)
def hermes(document: bytes) -> Recording:
    """hermes state.db.

    Always raises InputError: a part of a database may stand in a log beside its file.
    """
    raise InputError("a SQLite database is read from its file, not from bytes", "line 1")


def is_active(row: _Row) -> bool:
    """Whether the model is shown the row; one that does not say so is shown."""
    return row.get("active") not in (0, "0")


def message(row: _Row) -> Message:
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


def recording(rows: Iterable[_Row], sessions: Iterable[_Row]) -> Recording:
    """A transcript for each session, in the order of its first row.

    Raises InputError when no row is a message, and when there is more than can be held.
    """
    found: dict[str, _SessionRows] = {}
    for row in _bounded(rows):
        session = found.setdefault(f.text(row.get("session_id")), _SessionRows())
        stop = f.text(row.get("finish_reason"))
        if stop and row.get("role") == "assistant":
            session.stops[len(session.messages)] = stop
        session.messages.append(message(row))
    if not found:
        raise InputError("the table `messages` has no active row", "messages")
    about = {f.text(row.get("id")): row for row in sessions}
    transcripts = (_transcript(name, held, about.get(name, {})) for name, held in found.items())
    return with_doubts(readable(Recording(tuple(transcripts), format="hermes")))


def _bounded(rows: Iterable[_Row]) -> Iterator[_Row]:
    size_bytes = 0
    for row in filter(is_active, rows):
        size_bytes += sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))
        if size_bytes > MAX_KEPT_BYTES:
            what = f"more than {MAX_KEPT_BYTES // 1024**2} MB of messages"
            raise InputError(what, f"messages, row {row.get('id')}")
        yield row


def _transcript(name: str, held: _SessionRows, about: _Row) -> Transcript:
    return Transcript(
        name=name or "session",
        messages=tuple(held.messages),
        wire=RECORD.name,
        model=f.text(about.get("model")),
        system=f.text(about.get("system_prompt")),
        stops=held.stops,
    )
