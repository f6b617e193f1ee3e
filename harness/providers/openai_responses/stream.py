"""A response as the events of a stream.

Each event names its type twice and has a number that grows from 0. The last is exactly one of
response.completed, .incomplete and .failed. A text comes in pieces of whole characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from harness.core.values.messages import Json
from harness.providers.shared.codec import encode
from harness.providers.shared.sse import PIECE_CHARACTERS

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
    for piece in _pieces(text):
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
            for piece in _pieces(part[field]):
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
        for piece in _pieces(text):
            yield f"{kind}_text.delta", {**here, "delta": piece}
        yield f"{kind}_text.done", {**here, "text": text}
        yield f"{kind}_part.done", {**here, "part": part}


def _pieces(text: str) -> Iterator[str]:
    size = PIECE_CHARACTERS
    return (text[at : at + size] for at in range(0, len(text), size))
