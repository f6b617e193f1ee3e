"""Answers: a value to the bytes of a response, plain or streamed.

A stop that does not follow from the output is the reason of an `incomplete` response, verbatim:
clients must survive unknown reasons. `failed` and `failed:CODE` fail. No stop means no status.

Each event of a stream names its type twice and has a number that grows from 0. The last is exactly
one of response.completed, .incomplete and .failed. A text comes in pieces of whole characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, ToolSpec
from harness.core.values.plans import ApiError, Head, Recorded, Reply, Send
from harness.providers.openai_responses.blocks import output
from harness.providers.openai_responses.conversations import PlacedReading
from harness.providers.openai_responses.namespaces import in_parts
from harness.providers.openai_responses.record import RECORD, envelope, own
from harness.providers.openai_responses.response import FAILED, finished, response_in
from harness.providers.shared.codec import encode, tokens
from harness.providers.shared.sse import INPUT_CHARACTERS, pieces


def ending(reply: Reply) -> dict[str, Json]:
    """The fields of a response that say how it ended."""
    stop = reply.stop
    ended: dict[str, Json] = {"status": None, "error": None, "incomplete_details": None}
    if stop is None:
        return ended
    if stop.partition(":")[0] == FAILED:
        code = stop.partition(":")[2] or "server_error"
        error = {"code": code, "message": "The model failed to generate a response."}
        return {**ended, "status": FAILED, "error": error}
    if stop == finished(reply.blocks):
        return {**ended, "status": "completed"}
    details = {"reason": RECORD.written_stop(stop)}
    return {**ended, "status": "incomplete", "incomplete_details": details}


def response_object(
    reply: Reply, output: list[dict[str, Json]], reading: Reading, id_: str
) -> dict[str, Json]:
    """The response with this output. It is made at the epoch, for no clock is read here."""
    settings = reading.settings
    return {
        "id": id_,
        "object": "response",
        "created_at": 0,
        **ending(reply),
        "instructions": reading.system or None,
        "max_output_tokens": reading.max_tokens,
        "model": reading.model,
        "output": output,
        "parallel_tool_calls": settings.get("parallel_tool_calls", True),
        "previous_response_id": settings.get("previous_response_id"),
        "conversation": settings.get("conversation"),
        "store": settings.get("store", True),
        "tool_choice": settings.get("tool_choice", "auto"),
        "tools": [_tool(tool) for tool in reading.tools],
        "truncation": settings.get("truncation", "disabled"),
        "metadata": settings.get("metadata", {}),
        "usage": _usage(reply, output, reading.tokens),
    }


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }


def _usage(reply: Reply, output: list[dict[str, Json]], asked: int) -> dict[str, Json]:
    usage: dict[str, Json] = {
        "input_tokens": asked,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": tokens(len(encode(output))),
        "output_tokens_details": {"reasoning_tokens": 0},
        **reply.usage,
    }
    counts = usage["input_tokens"], usage["output_tokens"]
    total = sum(count for count in counts if isinstance(count, int))
    return {"total_tokens": total, **usage}


_JSON = "application/json"
_EVENT_STREAM = "text/event-stream; charset=utf-8"


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        _keep(reading, response_in(value.body, value.headers.get("content-type", "")))
        return (Send(value.body, Head(value.status, value.headers)),)
    name = draws.identifier("", key)
    if isinstance(value, ApiError):
        value = own(value)
        head = _head(value.status, _JSON, name, value.headers)
        return (Send(encode(envelope(value)), head),)
    said = in_parts(output(value.blocks, name), reading.settings.get("tools"))
    response = response_object(value, said, reading, f"resp_{name}")
    _keep(reading, response)
    if not reading.stream:
        return (Send(encode(response), _head(200, _JSON, name)),)
    first, *others = events(response)
    return (Send(first, _head(200, _EVENT_STREAM, name)), *map(Send, others))


def _keep(reading: Reading, response: dict[str, Json]) -> None:
    id_, said = response.get("id"), response.get("output")
    if isinstance(reading, PlacedReading) and reading.place and isinstance(id_, str):
        reading.place.stored.put(id_, reading.place, said if isinstance(said, list) else [])


def _head(status: int, kind: str, name: str, more: dict[str, str] | None = None) -> Head:
    usual = {"content-type": kind, "x-request-id": f"req_{name}"}
    return Head(status, usual | {k.lower(): v for k, v in (more or {}).items()})


_Event = tuple[str, dict[str, Json]]
_FRAME = b"event: %b\ndata: %b\n\n"


def events(response: dict[str, Json]) -> list[bytes]:
    """The frames of a whole response, one for each event."""
    numbers = count()
    return [
        _FRAME % (kind.encode(), encode({"type": kind, "sequence_number": next(numbers), **fields}))
        for kind, fields in _events(response)
    ]


def _events(response: dict[str, Json]) -> Iterator[_Event]:
    unknown = dict.fromkeys(("error", "incomplete_details", "usage"))
    begun = {**response, **unknown, "status": "in_progress", "output": []}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(response["output"]):
        yield from _item(item, index)
    status = response["status"]
    kind = status if status in ("incomplete", "failed") else "completed"
    yield f"response.{kind}", {"response": response}


def _item(item: dict[str, Json], index: int) -> Iterator[_Event]:
    at = {"output_index": index}
    begun = item
    inner: Iterator[_Event] = iter(())
    match item:
        case {"type": "message", "id": str(id_), "content": list(parts)}:
            begun = {**item, "status": "in_progress", "content": []}
            inner = _parts(parts, {"item_id": id_, **at})
        case {"type": "function_call", "id": str(id_), "arguments": str()}:
            begun = {**item, "status": "in_progress", "arguments": ""}
            inner = _arguments(item, {"item_id": id_, **at})
        case {"type": "reasoning", "id": str(id_), "summary": list(parts)}:
            begun = {**item, "summary": []}
            inner = _summary(parts, {"item_id": id_, **at})
    yield "response.output_item.added", {**at, "item": begun}
    yield from inner
    yield "response.output_item.done", {**at, "item": item}


def _arguments(item: dict[str, Json], at: dict[str, Json]) -> Iterator[_Event]:
    kind, text = "response.function_call_arguments", item["arguments"]
    for piece in pieces(text, INPUT_CHARACTERS):
        yield f"{kind}.delta", {**at, "delta": piece}
    yield f"{kind}.done", {**at, "name": item.get("name"), "arguments": text}


def _parts(parts: list[dict[str, Json]], at: dict[str, Json]) -> Iterator[_Event]:
    for index, part in enumerate(parts):
        here = {**at, "content_index": index}
        kind = part.get("type")
        field = _FIELDS.get(kind) if isinstance(kind, str) else None
        begun = {**part, field: ""} if field else part
        yield "response.content_part.added", {**here, "part": begun}
        if field:
            more: dict[str, Json] = {"logprobs": []} if field == "text" else {}
            for piece in pieces(part[field]):
                yield f"response.{kind}.delta", {**here, "delta": piece, **more}
            yield f"response.{kind}.done", {**here, field: part[field], **more}
        yield "response.content_part.done", {**here, "part": part}


_FIELDS = {"output_text": "text", "refusal": "refusal"}
"""The parts that come in pieces, and the field that grows."""


def _summary(parts: list[dict[str, Json]], at: dict[str, Json]) -> Iterator[_Event]:
    for index, part in enumerate(parts):
        here, text = {**at, "summary_index": index}, part["text"]
        kind = "response.reasoning_summary"
        yield f"{kind}_part.added", {**here, "part": {**part, "text": ""}}
        for piece in pieces(text):
            yield f"{kind}_text.delta", {**here, "delta": piece}
        yield f"{kind}_text.done", {**here, "text": text}
        yield f"{kind}_part.done", {**here, "part": part}
