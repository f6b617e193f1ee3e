"""Spans, however an exporter spelt them: OTLP JSON, and the dumps of the language SDKs.

OTLP nests spans in scopes in resources, spells in `camelCase` (protobuf in `snake_case`), writes
attributes as a list of typed values and times as nanoseconds in text. The SDKs write plain objects,
ids as text or as a number, and times as nanoseconds, as ISO 8601, or as a pair of seconds and
nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec

from harness.core.values.messages import Json
from harness.recordings.shapes import fields as f

_DEPTH = 20


class Span(msgspec.Struct, frozen=True):
    """A span: `failed` by its status, with the `error` in its own words; 0 is no time."""

    trace: str
    id: str
    name: str
    start_ns: int
    ended: bool
    attributes: dict[str, Json]
    failed: bool = False
    error: str = ""


_HELD_IN = (
    "resourceSpans",
    "resource_spans",
    "batches",
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "spans",
)
"""The lists in which spans are nested."""

_TRACE = ("trace_id", "traceId")
_SPAN = ("span_id", "spanId")
_START = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")


def of(values: Iterable[Json], depth: int = 0) -> Iterator[Span]:
    """The spans in values, in order."""
    for value in values:
        if isinstance(value, list) and depth < _DEPTH:
            yield from of(value, depth + 1)
        elif isinstance(value, dict):
            held = [value[name] for name in _HELD_IN if isinstance(value.get(name), list)]
            if held and depth < _DEPTH:
                yield from of(held, depth + 1)
            elif "name" in value and "attributes" in value:
                yield _span(value)


def _span(value: dict[str, Json]) -> Span:
    context = f.mapping(value.get("context") or value.get("spanContext"))
    attributes = _attributes(value.get("attributes"))
    failed, said = _status(f.mapping(value.get("status")))
    return Span(
        trace=_id(_either(context, *_TRACE) or _either(value, *_TRACE)),
        id=_id(_either(context, *_SPAN) or _either(value, *_SPAN)),
        name=f.text(value.get("name")),
        start_ns=_time_ns(_either(value, *_START)),
        ended=bool(_time_ns(_either(value, *_END))),
        attributes=attributes,
        failed=failed or bool(attributes.get("error.type")),
        error=said or _exception(value),
    )


def _id(value: Json) -> str:
    number = f.whole(value)
    return f"{number:032x}" if number is not None and 0 <= number < 1 << 128 else f.text(value)


def _either(value: dict[str, Json], *names: str) -> Json:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _attributes(given: Json) -> dict[str, Json]:
    if isinstance(given, dict):
        return given
    pairs = ((f.text(pair.get("key")), pair.get("value")) for pair in f.objects(given))
    return {key: _typed(value, 0) for key, value in pairs}


def _typed(value: Json, depth: int) -> Json:
    """A value of OTLP without its type."""
    kind, held = next(iter(f.mapping(value).items()), ("", value))
    kind = kind.replace("_", "").lower()
    if depth > _DEPTH:
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
    code = _either(status, "status_code", "statusCode", "code")
    failed = code == 2 or f.text(code).upper().replace(".", "_").rpartition("_")[2] == "ERROR"
    said = f.text(_either(status, "description", "message"))
    return failed, said if failed else ""


def _exception(value: dict[str, Json]) -> str:
    """What the exception says that the span recorded last."""
    raised = [e for e in f.objects(value.get("events")) if e.get("name") == "exception"]
    said = _attributes(raised[-1].get("attributes")) if raised else {}
    return f.text(said.get("exception.message")) or f.text(said.get("exception.type"))


def _time_ns(value: Json) -> int:
    """A time in nanoseconds; 0 for none."""
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
