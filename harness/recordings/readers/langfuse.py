"""Exports of langfuse: a trace with its observations, or rows of observations, from UI or API.

A generation whose input is a list of messages is an exchange: a transcript, as of a recorded
request. Of generations that hold each other, which instrument one call, the inner one counts. The
runs of tools are a transcript where no exchange of their trace shows as many calls. Rows of
Python's SDK have names with underscores; input and output may be JSON as text. Some instruments
write the calls of a message as its text, and the name of a tool as the role of its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message, ToolResult, ToolUse, side
from harness.core.values.plans import ApiError
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.chat_messages import held_messages, transcript_of, with_answer
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, SizeBound, entries, first_objects
from harness.recordings.transcripts import Recording, Refusal, Transcript, recording_of

_TYPES = frozenset((
    "GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING",
    "EVALUATOR", "GUARDRAIL",
))  # fmt: skip

_TRACE = frozenset({"observations", "bookmarked"})
"""The fields that a trace has and an observation has not."""

_NO_MESSAGES = "the input of a generation is not a list of messages"
_NO_GENERATION = "a trace without a generation or a tool"
_NO_OBSERVATIONS = "a trace without its observations, which an export has beside it"

_NAMES = (b'"traceId"', b'"trace_id"', b'"observations"', b'"bookmarked"')

_Row = dict[str, Json]


def _get(row: _Row, name: str) -> Json:
    """A field by its name in the API, or with underscores."""
    other = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return row[name] if name in row else row.get(other)


def _is_observation(row: _Row) -> bool:
    return f.text(row.get("type")) in _TYPES and bool(f.text(_get(row, "traceId")))


def _is_trace(row: _Row) -> bool:
    """Whether a row is a trace by itself, with its observations or without."""
    held = f.objects(row.get("observations"))
    about = {"id", "timestamp", "input", "output"} <= row.keys()
    return any(map(_is_observation, held)) or (about and not _TRACE.isdisjoint(row))


def _rows(value: Json) -> Iterator[_Row]:
    """The observations and traces of a document, wherever it holds them."""
    if isinstance(value, list):
        for item in value:
            yield from _rows(item) if isinstance(item, dict) else ()
        return
    row = f.mapping(value)
    if _is_observation(row):
        yield row
    elif any(map(_is_observation, held := f.objects(row.get("observations")))):
        name = f.text(row.get("name")) or f.text(f.mapping(row.get("trace")).get("name"))
        yield from ({"traceName": name, **one} for one in held if _is_observation(one))
    elif _is_trace(row):
        yield row
    elif isinstance(row.get("data"), list):
        yield from _rows(row["data"])


def _is_langfuse(data: bytes) -> bool:
    if not json_documents.is_json(data) or json_documents.is_lines(data):
        return False
    named = b'"output"' in data and any(name in data for name in _NAMES)
    value = json_documents.peek(data, b'"input"', b'"output"') if named else None
    return next(_rows(value), None) is not None


@recognised_by(_is_langfuse)
def langfuse(document: bytes) -> Recording:
    """langfuse export (JSON).

    A generation that holds no messages is a refusal. Raises InputError when nothing is observed.
    """
    return _recording(_rows(json_documents.load(document)))


def _begins_as_langfuse(data: bytes) -> bool:
    if not json_documents.is_lines(data):
        return False
    return any(_is_observation(row) or _is_trace(row) for row in first_objects(data))


@recognised_by(_begins_as_langfuse)
def langfuse_lines(lines: Iterable[bytes]) -> Recording:
    """langfuse export (JSON Lines).

    A torn line is skipped and noted. Raises InputError when nothing is observed.
    """
    notes, kept = Notes(), SizeBound()
    rows: list[_Row] = []
    for entry in entries(lines, notes):
        kept.add(entry)
        rows += _rows(entry.value)
    return notes.on(_recording(rows))


def _recording(rows: Iterable[_Row]) -> Recording:
    traces: dict[str, list[_Row]] = {}
    for row in rows:
        traces.setdefault(f.text(_get(row, "traceId")) or f.text(row.get("id")), []).append(row)
    if not traces:
        raise InputError("no observation of a trace", "line 1")
    found = [one for name, held in traces.items() for one in _trace(name, held)]
    return recording_of(found)


def _trace(name: str, rows: list[_Row]) -> Iterator[Transcript | Refusal]:
    once = {f.text(row.get("id")) or str(n): row for n, row in enumerate(rows)}.values()
    observed = sorted(filter(_is_observation, once), key=lambda row: f.text(_get(row, "startTime")))
    if not observed:
        yield from (_alone(name, row) for row in rows)
        return
    label = f.text(_get(observed[0], "traceName"))
    name = f"{label} {name}".strip()
    read = [_exchange(name, row) for row in observed if row["type"] == "GENERATION"]
    outer = _outer(observed, {one.name for one in read if isinstance(one, Transcript)}, name)
    found = [one for one in read if _place(one) not in outer]
    yield from found
    exchanges = [one for one in found if isinstance(one, Transcript)]
    runs = [row for row in observed if row["type"] == "TOOL"]
    calls = (sum(len(m.tool_uses) for m in one.messages) for one in exchanges)
    if len(runs) > max(calls, default=0):
        yield _runs(f"{name}, tools", runs)
    elif not found:
        yield Refusal(name, _NO_GENERATION)


def _alone(name: str, row: _Row) -> Transcript | Refusal:
    """A trace without its observations, which may say by itself what was said."""
    given, output = _value(row.get("input")), _value(row.get("output"))
    said, whole = held_messages(given) or (), held_messages(output) or ()
    if len(whole) > len(said):
        return transcript_of(name, output) or Refusal(name, _NO_OBSERVATIONS)
    return _exchange(name, row) if said else Refusal(name, _NO_OBSERVATIONS)


def _place(one: Transcript | Refusal) -> str:
    return one.name if isinstance(one, Transcript) else one.place


def _title(trace: str, row: _Row) -> str:
    return f"{trace}, {f.text(row.get('id')) or f.text(row.get('name'))}"


def _outer(observed: list[_Row], read: set[str], trace: str) -> set[str]:
    """The generations that hold one that could be read."""
    parents = {f.text(row.get("id")): f.text(_get(row, "parentObservationId")) for row in observed}
    outer: set[str] = set()
    for row in observed:
        at, title = parents.get(f.text(row.get("id")), ""), _title(trace, row)
        walked = set[str]()
        while title in read and at and at not in walked:
            walked.add(at)
            outer.add(f"{trace}, {at}")
            at = parents.get(at, "")
    return outer


def _exchange(trace: str, row: _Row) -> Transcript | Refusal:
    """The messages that a generation was given, with its answer."""
    name, given = _title(trace, row), _value(row.get("input"))
    if isinstance(given, dict) and "role" in given:
        given = [given]
    asked = transcript_of(name, _usual(given) if isinstance(given, list) else given)
    if asked is None:
        return Refusal(name, _NO_MESSAGES)
    first = next((side(m) for m in asked.said if m.blocks), "user")
    asked = msgspec.structs.replace(
        asked,
        model=f.text(row.get("model")) or asked.model,
        stateful=asked.stateful or first == "tool",
    )
    output = _value(row.get("output"))
    said = {"role": "assistant", "content": output} if isinstance(output, str) else output
    said = _usual(said) if isinstance(said, list) else said
    answered = with_answer(asked, said) if said else asked
    if answered.answered or row.get("level") != "ERROR":
        return answered
    error = ApiError(0, "", f.text(_get(row, "statusMessage")))
    return msgspec.structs.replace(asked, exchange=True, complete=False, error=error)


_ROLES = frozenset(
    ("system", "developer", "user", "human", "assistant", "ai", "model", "tool", "function")
)


def _usual(rows: list[Json]) -> list[Json]:
    """The rows, with calls that stand as a text, and results with a tool's name for their role.

    Such results have no id, so each gets that of the oldest open call.
    """
    found: list[Json] = []
    called: dict[str, str] = {}
    for row in rows:
        if isinstance(row, dict):
            if calls := _calls_in(row.get("content")):
                row = {**row, "role": "assistant", "content": None, "tool_calls": calls}
            row = _answering(row, called)
            for call in f.objects(row.get("tool_calls")):
                called[f.identifier(call.get("id"))] = f.text(
                    f.mapping(call.get("function")).get("name")
                )
        found.append(row)
    return found


def _answering(row: _Row, called: dict[str, str]) -> _Row:
    """The row; a result without an id gets that of the oldest call in `called`, which is taken."""
    role, answered = f.text(row.get("role")), f.identifier(row.get("tool_call_id"))
    is_named = role not in _ROLES and role in called.values()
    if answered:
        called.pop(answered, None)
    elif called and (is_named or (role == "tool" and isinstance(row.get("content"), str))):
        id_ = next(i for i, name in called.items() if not is_named or name == role)
        del called[id_]
        return {**row, "role": "tool", "tool_call_id": id_}
    return row


def _calls_in(content: Json) -> list[_Row]:
    """The calls that a text is JSON of, as the Chat API has them."""
    value = f.parse(content) if isinstance(content, str) and content[:2] == "[{" else None
    calls = f.objects(value)
    named = all(c.get("type") == "function" and f.mapping(c.get("function")) for c in calls)
    return calls if named and len(calls) == len(f.listed(value)) else []


def _value(value: Json) -> Json:
    """An input or output, which may be kept as JSON text."""
    held = f.parse(value) if isinstance(value, str) and value[:1] in ("{", "[", '"') else None
    return value if held is None else held


def _runs(name: str, rows: list[_Row]) -> Transcript:
    """The runs of tools by start time, as calls with their results; no roles are known."""
    messages: list[Message] = []
    for number, row in enumerate(rows, start=1):
        id_ = f"run_{number}"
        output, level = _value(row.get("output")), row.get("level")
        told = output if output is not None else f.text(_get(row, "statusMessage"))
        messages.append(Message("assistant", (ToolUse(id_, _tool(row), _value(row.get("input"))),)))
        messages.append(Message("tool", (ToolResult(id_, f.as_text(told), level == "ERROR"),)))
    return Transcript(name=name, messages=tuple(messages), roles=False)


def _tool(row: _Row) -> str:
    """The name of a tool, without what instrumentation puts before it."""
    name = f.text(row.get("name"))
    return name.removeprefix("execute_tool ").removeprefix("running tool: ")
