"""Sessions of opencode: as `opencode export` prints one, and as its database keeps them all.

Both hold an object for a message, and one for each part of it.

A part of a tool holds the call and its result. An answer has a step for each request to the model.
The next request shows the model a call that was cut short as a failed one. The summary of a
compaction begins a new context, with the tail of messages that the compaction names.
Source: exports of versions 1.2 to 1.18, databases that 1.18.33 wrote, and anomalyco/opencode,
session/message-v2.ts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from heapq import merge
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

from harness.core.values.errors import InputError
from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from harness.core.values.plans import ApiError
from harness.providers.openai_chat.record import RECORD
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.half_read import is_of_a_tool
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import MAX_KEPT_BYTES, logged_error
from harness.recordings.tables import Row, Tables, has, sessions
from harness.recordings.transcripts import Recording, Refusal, Transcript

_BEGINS = re.compile(rb'\s*(?:Exporting session: \S+\s+)?\{\s*"info":\s*\{\s*"id":\s*"ses_')
"""With `2>&1` the line that the program prints for the user stands before the object."""

_CUT_SHORT = "[Tool execution was interrupted]"
"""What opencode shows the model in place of the result of a lost call."""

_NO_FAILURES = ("MessageAbortedError", "MessageOutputLengthError")  # the API made none of them
_STATES = frozenset({"pending", "running", "completed", "error"})
_Object = dict[str, Json]


class _Talk:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.failures: dict[int, ApiError] = {}
        self.restarts: dict[int, int] = {}
        self.model = ""
        self._begins: dict[str, int] = {}
        self._tail = ""

    def ask(self, info: _Object, parts: list[_Object]) -> None:
        self._begins[f.text(info.get("id"))] = len(self.messages)
        tails = (f.text(part.get("tail_start_id")) for part in parts)
        self._tail = next(filter(None, tails), "")
        blocks = tuple(block for part in parts for block in _said(part))
        self.messages += [Message(f.text(info.get("role")), blocks)] if blocks else []

    def answer(self, info: _Object, parts: list[_Object], *, is_last: bool) -> None:
        at = self._begins[f.text(info.get("id"))] = len(self.messages)
        self.model = self.model or f.text(info.get("modelID"))
        if info.get("summary") is True:
            self._begin_anew(f.joined(f.text(part.get("text")) for part in parts))
            return
        begins = [n for n, part in enumerate(parts) if n and part.get("type") == "step-start"]
        for begin, end in pairwise((0, *begins, len(parts))):
            step = parts[begin:end]
            written = (part for part in step if not (is_last and _is_written(part)))
            blocks = tuple(block for part in written for block in _said(part))
            self.messages += [Message("assistant", blocks)] if blocks else []
            results = filter(None, (_result(part, is_last=is_last) for part in step))
            self.messages += [Message("tool", (result,)) for result in results]
        error = f.mapping(info.get("error"))
        if error and error.get("name") not in _NO_FAILURES:
            told = f.mapping(error.get("data"))
            text = f.text(told.get("message")) or f.text(error.get("name"))
            self.messages += [Message("assistant", (Text(text),))] * (len(self.messages) == at)
            self.failures[at] = logged_error(text, told.get("statusCode"), error.get("name"))

    def _begin_anew(self, summary: str) -> None:
        at = len(self.messages)
        if summary:
            self.restarts[at] = self._begins.get(self._tail, at)
            self.messages.append(user(summary))


def _said(part: _Object) -> Iterator[Block]:
    match f.text(part.get("type")):
        case "text" if part.get("text") and part.get("ignored") is not True:
            yield Text(f.text(part["text"]))
        case "reasoning" if part.get("text"):
            yield Thinking(f.text(part["text"]))
        case "tool":
            yield _call(part)
        case kind if kind == "file" or is_of_a_tool(kind, "assistant"):
            yield Opaque(kind, part)


def _is_written(part: _Object) -> bool:
    """Whether a call is still being written: its input is empty until it runs."""
    return f.mapping(part.get("state")).get("status") == "pending"


def _call(part: _Object) -> Block:
    state, id_ = f.mapping(part.get("state")), f.identifier(part.get("callID"))
    if not id_ or "input" not in state or state.get("status") not in _STATES:
        reason = "the id, the input or the state of a call is not found"
        return Opaque(f.UNREAD_CALL, {"reason": reason, "call": part})
    return ToolUse(id_, f.text(part.get("tool")), f.arguments(state["input"]))


def _result(part: _Object, *, is_last: bool) -> ToolResult | None:
    """The result in the part of a tool; None for a tool that may still run."""
    state, id_ = f.mapping(part.get("state")), f.identifier(part.get("callID"))
    match state.get("status"):
        case "completed":
            return ToolResult(id_, f.as_text(state.get("output", "")))
        case "error":
            return ToolResult(id_, f.text(state.get("error")), is_error=True)
        case "pending" | "running" if not is_last:
            return ToolResult(id_, _CUT_SHORT, is_error=True)
    return None


@recognised_by(lambda data: _BEGINS.match(data) is not None)
def opencode(document: bytes) -> Recording:
    """opencode session, as `opencode export` prints it.

    Raises InputError when no message holds a text or a call, and for JSON that is torn.
    """
    value = f.mapping(json_documents.load(document[max(document.find(b"{"), 0) :]))
    found = _transcript(
        f.mapping(value.get("info")),
        [
            (f.mapping(message.get("info")), f.objects(message.get("parts")))
            for message in f.objects(value.get("messages"))
        ],
    )
    if not found.messages:
        raise InputError(_EMPTY, "line 1")
    return Recording((found,))


def opencode_database(tables: Tables) -> Recording | None:
    """session of opencode's database (opencode.db).

    Sessions that no longer fit in memory are refused; the newest come first. Raises InputError when
    no session holds a text or a call.
    """
    if not (has(tables, "message", *_MESSAGE) and has(tables, "part", *_PART)):
        return None
    about = {row.get("id"): row for row in tables.rows("session", _SESSION, ("id",))}
    return sessions(_kept(tables, about))


def _kept(tables: Tables, about: Mapping[Any, Row]) -> Iterator[Transcript | Refusal]:
    size_bytes = 0
    for name, rows in _sessions(tables):
        size_bytes += sum(len(row["data"]) for row in rows)
        if size_bytes > MAX_KEPT_BYTES:
            yield Refusal(name, f"more than {MAX_KEPT_BYTES // 1024**2} MB of newer sessions")
            continue
        found = _transcript({**about.get(name, {}), "id": name}, _messages(rows))
        yield found if found.messages else Refusal(name, _EMPTY)


_EMPTY = "no message holds a text or a call"
_MESSAGE = ("id", "session_id", "data", "time_created")
_PART = ("id", "message_id", "session_id", "data")
_SESSION = ("id", "directory", "time_created", "time_updated")


def _sessions(tables: Tables) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each session: its messages, then their parts. The ids of sessions count down."""
    messages = tables.rows("message", _MESSAGE, ("session_id", "time_created", "id"))
    parts = tables.rows("part", _PART, ("session_id", "id"))
    rows = merge(filter(_is_row, messages), filter(_is_row, parts), key=itemgetter("session_id"))
    return ((name, list(held)) for name, held in groupby(rows, key=itemgetter("session_id")))


def _is_row(row: Row) -> bool:
    return isinstance(row["session_id"], str) and isinstance(row["data"], str)


def _messages(rows: list[Row]) -> list[tuple[_Object, list[_Object]]]:
    parts: dict[str, list[_Object]] = {
        f.text(row["id"]): [] for row in rows if "message_id" not in row
    }
    for row in rows:
        if "message_id" in row:
            parts.get(f.text(row["message_id"]), []).append(f.mapping(f.parse(row["data"])))
    return [
        ({**f.mapping(f.parse(row["data"])), "id": row["id"]}, parts[f.text(row["id"])])
        for row in rows
        if "message_id" not in row
    ]


def _transcript(session: Row, messages: list[tuple[_Object, list[_Object]]]) -> Transcript:
    talk = _Talk()
    for n, (said, parts) in enumerate(messages, start=1):
        if said.get("role") == "assistant":
            talk.answer(said, parts, is_last=n == len(messages))
        else:
            talk.ask(said, parts)
    return Transcript(
        name=f.text(session.get("id")),
        messages=tuple(talk.messages),
        wire=RECORD.name,
        model=talk.model,
        failures=talk.failures,
        restarts=talk.restarts,
        place=f.text(session.get("directory")),
        begun_s=_seconds(session.get("time_created")),
        changed_s=_seconds(session.get("time_updated")),
    )


def _seconds(milliseconds: Json) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, int) else None
