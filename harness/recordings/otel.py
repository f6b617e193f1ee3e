"""OpenTelemetry traces of agents: the tool spans of each trace, as calls with their results.

A span says that a tool ran, with what and what came of it; who said what in which message is told
by other spans, each in its own way and mostly cut, so it is not read. Four conventions name the
same things: OTel's own (`gen_ai.*`), OpenInference, OpenLLMetry (`traceloop.*`) and the AI SDK
(`ai.*`). The spans come as the JSON of OTLP, whose attributes are a list and times text, or as an
exporter of a language wrote them, in one document or one on each line.
Source: OpenTelemetry semantic conventions for generative AI (`execute_tool`); OpenInference
semantic conventions (`openinference.span.kind`); opentelemetry-proto (JSON encoding).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, Message, ToolResult, ToolUse
from harness.recordings import documents, spans
from harness.recordings.lines import Notes, entries, split
from harness.recordings.shapes import fields as f
from harness.recordings.spans import Span
from harness.recordings.transcripts import Recording, Refusal, Transcript, encodable

_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.args",
    "tool_arguments",
    "ai.toolCall.args",
    "input.value",
    "traceloop.entity.input",
    "tool.parameters",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "gen_ai.output",
    "tool_response",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
)
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

_BEGIN = re.compile(
    rb'\A\s*\[?\s*\{\s*"(?:spans|resourceSpans|resource_spans|batches|traceId|trace_id|spanId|'
    rb'span_id|context|name|parent|kind|resource|attributes)"'
)
_MARK = re.compile(rb'"(?:span_?[iI]d|context)"\s*:')
_HEAD_BYTES = 65536


def looks_like(data: bytes) -> bool:
    """Whether the bytes begin as spans do."""
    head = data[:_HEAD_BYTES]
    return bool(_BEGIN.match(head) and _MARK.search(head) and b'ttributes"' in head)


def read(data: bytes) -> Recording:
    """The traces; raises InputError when there is no span. One without a tool span is refused."""
    notes = Notes()
    traces: dict[str, list[Span]] = {}
    for span in spans.of(_documents(data, notes)):
        traces.setdefault(span.trace, []).append(span)
    if not traces:
        why = f"; {notes.first}" if notes.first else ""
        raise InputError(f"holds no span{why}", "line 1")
    found = [_read_one(trace, held) for trace, held in traces.items()]
    return Recording(
        "otel",
        tuple(read for read in found if isinstance(read, Transcript)),
        tuple(read for read in found if isinstance(read, Refusal)),
        notes.told(),
    )


def _documents(data: bytes, notes: Notes) -> Iterable[Json]:
    """The JSON values: one on each line when the first line is one and others follow, or one."""
    first, _, rest = data.strip().partition(b"\n")
    if rest and isinstance(f.parse(first), dict):
        return (entry.value for entry in entries(split(data), notes))
    return [documents.load(data)]


def _read_one(trace: str, held: list[Span]) -> Transcript | Refusal:
    name = f"trace {trace}" if trace else "trace"
    tools = sorted(filter(_is_tool, held), key=lambda span: span.start_ns)
    if not tools:
        return Refusal(name, "no tool spans")
    models = (_first(span, _MODELS) for span in held)
    return Transcript(
        name=name,
        messages=encodable(tuple(_messages(tools))),
        model=next((model for model in models if isinstance(model, str)), ""),
        roles=False,
    )


def _is_tool(span: Span) -> bool:
    said = span.attributes
    if any(f.text(said.get(name)).lower() == value for name, value in _IS_TOOL):
        return True
    return "gen_ai.operation.name" not in said and "gen_ai.tool.name" in said


def _messages(tools: list[Span]) -> Iterator[Message]:
    """A call for each span, and its result if it has ended; without an id it has the span's."""
    for span in tools:
        id_, result = f.text(_first(span, _IDS)) or span.id, _first(span, _RESULTS)
        arguments = f.arguments(_first(span, _ARGUMENTS))
        yield Message("assistant", (ToolUse(id_, _name(span), arguments),))
        if span.ended or result is not None:
            content = f.result_content(result, {"text": "text"}) or span.error
            yield Message("tool", (ToolResult(id_, content, span.failed),))


def _name(span: Span) -> str:
    return f.text(_first(span, _NAMES)) or span.name.removeprefix("execute_tool ")


def _first(span: Span, names: tuple[str, ...]) -> Any:
    """The value of the first attribute of these names that is there."""
    return next((span.attributes[name] for name in names if name in span.attributes), None)
