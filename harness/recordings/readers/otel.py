"""OpenTelemetry traces of agents: the tool spans of each trace, as calls with their results.

Of the outermost spans of agents it reads what the user said and was told, where that is in the
parts of the GenAI conventions. Other spans are ignored: they hold messages in many shapes, mostly
truncated. Four conventions name the same facts: OTel (`gen_ai.*`), OpenInference, OpenLLMetry
(`traceloop.*`), AI SDK (`ai.*`). SDKs write plain objects instead of OTLP; their times are
nanoseconds, ISO 8601, or a pair of seconds and nanoseconds. Source: OpenTelemetry and OpenInference
semantic conventions; opentelemetry-proto (JSON encoding).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

import msgspec

from harness.core.values.messages import Json, Message, Text, ToolResult, ToolUse
from harness.providers.shared import json_fields as f
from harness.recordings import json_documents
from harness.recordings.recording_format import recognised_by
from harness.recordings.session_log import Notes, entries, split
from harness.recordings.transcripts import Recording, Refusal, Transcript, recording_of

_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool_arguments", "ai.toolCall.args",
    "input.value", "traceloop.entity.input", "tool.parameters",
)  # fmt: skip
_RESULTS = (
    "gen_ai.tool.call.result", "gen_ai.output", "tool_response", "ai.toolCall.result",
    "output.value", "traceloop.entity.output",
)  # fmt: skip
_MODELS = ("gen_ai.request.model", "llm.model_name", "gen_ai.response.model")
"""The attributes that say the same, the most exact first."""

_IS_TOOL = (
    ("gen_ai.operation.name", "execute_tool"),
    ("openinference.span.kind", "tool"),
    ("traceloop.span.kind", "tool"),
    ("operation.name", "ai.toolcall"),
    ("ai.operationId", "ai.toolcall"),
)
"""What marks the span of a tool, in small letters."""

_UNANSWERED = "harness.unanswered"
"""How `harness export` marks a call without an answer: its span ends with its turn."""

# A document begins with one of these keys, and names spans and attributes near its beginning.
_BEGIN = re.compile(
    rb'\A\s*+(?:\[\s*+)?\{\s*+"(?:spans|resourceSpans|resource_spans|batches|traceId|trace_id|spanId|'
    rb'span_id|context|name|parent|kind|resource|attributes)"'
)
_MARK = re.compile(rb'"(?:span_?[iI]d|context)"\s*:')
_HEAD_BYTES = 65536


def _is_otel(data: bytes) -> bool:
    head = data[:_HEAD_BYTES]
    return bool(_BEGIN.match(head) and _MARK.search(head) and b'ttributes"' in head)


@recognised_by(_is_otel)
def otel(document: bytes) -> Recording:
    """OpenTelemetry spans.

    A trace without a tool span is refused. Raises InputError when there is no span.
    """
    notes = Notes()
    traces: dict[str, list[TraceSpan]] = {}
    for span in _spans(_documents(document, notes)):
        traces.setdefault(span.trace, []).append(span)
    if not traces:
        raise notes.refusal("holds no span")
    return notes.on(recording_of(_read_one(trace, held) for trace, held in traces.items()))


def _documents(data: bytes, notes: Notes) -> Iterable[Json]:
    """One JSON value, or one a line when the first line is a value and others follow."""
    first, _, rest = data.strip().partition(b"\n")
    if rest and isinstance(f.parse(first), dict):
        return (entry.value for entry in entries(split(data), notes))
    return [json_documents.load(data)]


def _read_one(trace: str, held: list[TraceSpan]) -> Transcript | Refusal:
    name = f"trace {trace}" if trace else "trace"
    tools = sorted(filter(_is_tool, held), key=lambda span: span.start_ns)
    if not tools:
        return Refusal(name, "no tool spans")
    models = (_first(span, _MODELS) for span in held)
    return Transcript(
        name=name,
        messages=tuple(_messages(tools, _turns(held))),
        model=next((model for model in models if isinstance(model, str)), ""),
        roles=False,
    )


def _is_tool(span: TraceSpan) -> bool:
    said = span.attributes
    if any(f.text(said.get(name)).lower() == value for name, value in _IS_TOOL):
        return True
    return "gen_ai.operation.name" not in said and "gen_ai.tool.name" in said


def _turns(held: list[TraceSpan]) -> Iterator[tuple[int, Message]]:
    """What the user said at the start of an agent's span, and was told at its end."""
    spans = {span.id: span for span in held}
    for span in held:
        if _is_agent(span) and not any(map(_is_agent, _above(span, spans))):
            asked = _last_words(span.attributes.get("gen_ai.input.messages"), "user")
            told = _last_words(span.attributes.get("gen_ai.output.messages"), "assistant")
            if asked:
                yield span.start_ns, Message("user", (Text(asked),))
            if told and span.ended:
                yield span.end_ns, Message("assistant", (Text(told),))


def _above(span: TraceSpan, spans: dict[str, TraceSpan]) -> Iterator[TraceSpan]:
    """The spans around a span, as far as they are told; a damaged file may name a circle."""
    for _ in range(_DEPTH):
        if (above := spans.get(span.parent)) is None:
            return
        yield (span := above)


def _last_words(value: Json, role: str) -> str:
    """The texts of the last messages of a role: what stands before them was said in other turns."""
    rows = reversed(f.objects(f.arguments(value)))
    last = [f.objects(row.get("parts")) for row in takewhile(lambda m: m.get("role") == role, rows)]
    parts = (part for row in reversed(last) for part in row if part.get("type") == "text")
    return f.joined(f.text(part.get("content")) for part in parts)


def _is_agent(span: TraceSpan) -> bool:
    return f.text(span.attributes.get("gen_ai.operation.name")) == "invoke_agent"


def _messages(tools: list[TraceSpan], turns: Iterable[tuple[int, Message]]) -> Iterator[Message]:
    """The calls, and around them what the user said and was told; a turn ends after its calls."""
    asked = sorted(turns, key=lambda turn: turn[0])
    for span in tools:
        while asked and asked[0][0] <= span.start_ns:
            yield asked.pop(0)[1]
        yield from _called(span)
    yield from (message for _, message in asked)


def _called(span: TraceSpan) -> Iterator[Message]:
    """A call, and its result if it has ended; the span's id is the default."""
    id_, result = f.text(_first(span, _IDS)) or span.id, _first(span, _RESULTS)
    arguments = f.arguments(_first(span, _ARGUMENTS))
    name = f.text(_first(span, _NAMES)) or span.name.removeprefix("execute_tool ")
    yield Message("assistant", (ToolUse(id_, name, arguments),))
    if (span.ended and not span.attributes.get(_UNANSWERED)) or result is not None:
        content = f.result_content(result, {"text": "text"}) or span.error
        yield Message("tool", (ToolResult(id_, content, span.failed),))


def _first(span: TraceSpan, names: tuple[str, ...]) -> Any:
    return next((span.attributes[name] for name in names if name in span.attributes), None)


_DEPTH = 20


class TraceSpan(msgspec.Struct, frozen=True):
    """A span: `failed` by its status, with the `error` in its own words; 0 is not a time."""

    trace: str
    id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Json]
    failed: bool = False
    error: str = ""
    parent: str = ""

    @property
    def ended(self) -> bool:
        """Whether it has an end."""
        return bool(self.end_ns)


_HELD_IN = (
    "resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans",
    "instrumentationLibrarySpans", "spans",
)  # fmt: skip
"""The lists in which spans are nested."""

_TRACE = ("trace_id", "traceId")
_SPAN = ("span_id", "spanId")
_PARENT = ("parent_span_id", "parentSpanId", "parent_id")
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")


def _spans(values: Iterable[Json], depth: int = 0) -> Iterator[TraceSpan]:
    for value in values:
        if isinstance(value, list) and depth < _DEPTH:
            yield from _spans(value, depth + 1)
        elif isinstance(value, dict):
            held = [value[name] for name in _HELD_IN if isinstance(value.get(name), list)]
            if held and depth < _DEPTH:
                yield from _spans(held, depth + 1)
            elif "name" in value and "attributes" in value:
                yield _span(value)


def _span(value: dict[str, Json]) -> TraceSpan:
    context = f.mapping(value.get("context") or value.get("spanContext"))
    attributes = _attributes(value.get("attributes"))
    failed, said = _status(f.mapping(value.get("status")))
    return TraceSpan(
        trace=_id(f.first(context, _TRACE) or f.first(value, _TRACE)),
        id=_id(f.first(context, _SPAN) or f.first(value, _SPAN)),
        name=f.text(value.get("name")),
        start_ns=_time_ns(f.first(value, _START)),
        end_ns=_time_ns(f.first(value, _END)),
        attributes=attributes,
        failed=failed or bool(attributes.get("error.type")),
        error=said or _exception(value),
        parent=_id(f.first(value, _PARENT)),
    )


def _id(value: Json) -> str:
    number = f.whole(value)
    return f"{number:032x}" if number is not None and 0 <= number < 1 << 128 else f.text(value)


def _attributes(given: Json) -> dict[str, Json]:
    if isinstance(given, dict):
        return given
    pairs = ((f.text(pair.get("key")), pair.get("value")) for pair in f.objects(given))
    return {key: _typed(value, 0) for key, value in pairs}


def _typed(value: Json, depth: int) -> Json:
    kind, held = next(iter(f.mapping(value).items()), ("", value))
    kind = kind.replace("_", "").lower()
    if depth > _DEPTH or value == {}:
        return None
    if kind == "intvalue" and isinstance(held, str) and held.lstrip("-").isdecimal():
        return int(held)
    if kind == "arrayvalue":
        return [_typed(item, depth + 1) for item in f.listed(f.mapping(held).get("values"))]
    if kind == "kvlistvalue":
        pairs = f.objects(f.mapping(held).get("values"))
        return {f.text(pair.get("key")): _typed(pair.get("value"), depth + 1) for pair in pairs}
    return held


def _status(status: dict[str, Json]) -> tuple[bool, str]:
    code = f.first(status, ("status_code", "statusCode", "code"))
    failed = code == 2 or f.text(code).upper().replace(".", "_").rpartition("_")[2] == "ERROR"
    said = f.text(f.first(status, ("description", "message")))
    return failed, said if failed else ""


def _exception(value: dict[str, Json]) -> str:
    raised = [e for e in f.objects(value.get("events")) if e.get("name") == "exception"]
    said = _attributes(raised[-1].get("attributes")) if raised else {}
    return f.text(said.get("exception.message")) or f.text(said.get("exception.type"))


def _time_ns(value: Json) -> int:
    """A time in nanoseconds; 0 for a value that is not a time."""
    match value:
        case bool():
            return 0
        case int() | float():
            return int(value) if abs(value) < 1e30 else 0
        case str() if value.isascii() and value.isdecimal():
            return int(value[:30])
        case str():
            return _iso_ns(value)
        case [int(seconds), int(nanos)]:
            return seconds * 1_000_000_000 + nanos
    return 0


def _iso_ns(text: str) -> int:
    try:
        time = datetime.fromisoformat(text)
        known = time if time.tzinfo else time.replace(tzinfo=UTC)
        return round(known.timestamp() * 1_000_000) * 1000
    except (ValueError, OverflowError, OSError):
        return 0
