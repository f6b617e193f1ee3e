"""Answers: a value to the bytes of a response, plain or streamed.

A stop that does not follow from the output is the reason of an `incomplete` response, verbatim:
clients must survive unknown reasons. `failed` and `failed:CODE` fail. No stop means no status.
"""

from __future__ import annotations

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json, ToolSpec
from harness.core.values.plans import ApiError, Head, Recorded, Reply, Send
from harness.providers.openai_responses.blocks import output
from harness.providers.openai_responses.conversations import PlacedReading
from harness.providers.openai_responses.errors import envelope, own
from harness.providers.openai_responses.namespaces import in_parts
from harness.providers.openai_responses.record import RECORD
from harness.providers.openai_responses.response import FAILED, finished, response_in
from harness.providers.openai_responses.stream import events
from harness.providers.shared.codec import encode, tokens


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
