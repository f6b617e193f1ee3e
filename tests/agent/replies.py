"""What a provider says, in the Messages API's words: messages, errors and streams."""

from __future__ import annotations

import json
from typing import Any

from tests.http_library import http

Wire = dict[str, Any]


def text(*texts: str, stop: str | None = "end_turn") -> Wire:
    """A reply of texts."""
    return {"content": [{"type": "text", "text": t} for t in texts], "stop_reason": stop}


def use(
    name: str, input: Any = None, id: str = "", stop: str | None = "tool_use", **more: Any
) -> Wire:
    """A reply that calls a tool; the id is drawn from the number of the request if not given."""
    given = {} if input is None else input
    call = {"type": "tool_use", "id": id, "name": name, "input": given, **more}
    return {"content": [call], "stop_reason": stop}


def uses(*calls: tuple[str, str, Any], stop: str | None = "tool_use") -> Wire:
    """A reply with several calls: id, name, input."""
    blocks = [{"type": "tool_use", "id": i, "name": n, "input": v} for i, n, v in calls]
    return {"content": blocks, "stop_reason": stop}


def error(status: int, message: str, type: str = "invalid_request_error") -> http.Response:
    """An error of the provider."""
    return http.Response(status, json=error_body(message, type))


def error_body(message: str, type: str = "invalid_request_error") -> Wire:
    """The envelope of an error."""
    return {"type": "error", "error": {"type": type, "message": message}}


def too_long(got: int = 208_380, most: int = 200_000) -> http.Response:
    """The refusal of a prompt over the window."""
    return error(400, f"prompt is too long: {got} tokens > {most} maximum")


def sse(*events: Wire) -> bytes:
    """Events as the bytes of a stream."""
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def message_events(message: Wire) -> list[Wire]:
    """A message as the events of its stream."""
    start = {**message, "content": [], "stop_reason": None}
    events: list[Wire] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        empty, delta = _delta(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        if delta:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}})
    return [*events, {"type": "message_stop"}]


def _delta(block: Wire) -> tuple[Wire, Wire | None]:
    match block:
        case {"type": "text", "text": said}:
            return {"type": "text", "text": ""}, {"type": "text_delta", "text": said}
        case {"type": "tool_use", "input": given, **rest}:
            partial = given if isinstance(given, str) else json.dumps(given)
            delta = {"type": "input_json_delta", "partial_json": partial}
            return {"type": "tool_use", "input": {}, **rest}, delta
    return block, None
