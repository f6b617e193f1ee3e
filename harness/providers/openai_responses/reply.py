"""Answers: a value to the bytes of a response, plain or streamed.

A stream is one send for each event, so that a fault can cut, delay or bend exactly one; the head
goes with the first. An error is an HTTP status and an envelope even where a stream was asked for:
an error inside a stream is a fault's work. What is written is put down where the server keeps it.
"""

from __future__ import annotations

from harness.core.transition.ports import Reading
from harness.core.values.draws import Draws
from harness.core.values.messages import Json
from harness.core.values.plans import ApiError, Head, Recorded, Reply, Send
from harness.providers.codec import encode
from harness.providers.openai_responses import answer
from harness.providers.openai_responses.blocks import output
from harness.providers.openai_responses.errors import envelope
from harness.providers.openai_responses.kept import PlacedReading
from harness.providers.openai_responses.response import response_object
from harness.providers.openai_responses.stream import events

_JSON = "application/json"
_EVENT_STREAM = "text/event-stream; charset=utf-8"


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        _keep(reading, answer.response_in(value.body, value.headers.get("content-type", "")))
        return (Send(value.body, Head(value.status, value.headers)),)
    name = draws.identifier("", key)
    if isinstance(value, ApiError):
        head = _head(value.status, _JSON, name, value.headers)
        return (Send(encode(envelope(value)), head),)
    response = response_object(value, output(value.blocks, name), reading, f"resp_{name}")
    _keep(reading, response)
    if not reading.stream:
        return (Send(encode(response), _head(200, _JSON, name)),)
    first, *others = events(response)
    return (Send(first, _head(200, _EVENT_STREAM, name)), *map(Send, others))


def _keep(reading: Reading, response: dict[str, Json]) -> None:
    id_, said = response.get("id"), response.get("output")
    if isinstance(reading, PlacedReading) and reading.place and isinstance(id_, str):
        reading.place.answer(id_, said if isinstance(said, list) else [])


def _head(status: int, kind: str, name: str, more: dict[str, str] | None = None) -> Head:
    usual = {"content-type": kind, "x-request-id": f"req_{name}"}
    return Head(status, usual | {k.lower(): v for k, v in (more or {}).items()})
