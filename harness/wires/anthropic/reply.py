"""Answers: a value to the bytes of a response, plain or streamed.

A stream is one send for each event, so that a fault can cut, delay or bend exactly one; the head
goes with the first. An error is an HTTP status and an error envelope even where a stream was asked
for: an error inside a stream is a fault's work. The ids of a request and of its message come from
one draw, so that a reader of a log sees that they belong together.
"""

from __future__ import annotations

from harness.core.draws import Draws
from harness.core.messages import Json
from harness.core.plans import ApiError, Head, Recorded, Reply, Send
from harness.core.ports import Reading
from harness.wires.anthropic.blocks import block_to
from harness.wires.anthropic.codec import encode
from harness.wires.anthropic.headers import json_head, stream_head
from harness.wires.anthropic.stream import events
from harness.wires.anthropic.tokens import tokens


def write(
    value: Reply | ApiError | Recorded, reading: Reading, key: str, draws: Draws
) -> tuple[Send, ...]:
    """A value as the bytes of the answer to the request `reading` of the call `key`."""
    if isinstance(value, Recorded):
        return (Send(value.body, Head(value.status, value.headers)),)
    name = draws.identifier("", key)
    id_ = f"req_{name}"
    if isinstance(value, ApiError):
        head = json_head(value.status, id_, value.headers)
        return (Send(encode(error_envelope(value, id_)), head),)
    content = [block_to(block) for block in value.blocks]
    message = _message(value, content, reading, f"msg_{name}")
    if not reading.stream:
        return (Send(encode(message), json_head(200, id_)),)
    first, *others = events(message)
    return (Send(first, stream_head(id_)), *map(Send, others))


def error_envelope(error: ApiError, id_: str) -> dict[str, Json]:
    """The body of an error."""
    return {
        "type": "error",
        "error": {"type": error.type, "message": error.message},
        "request_id": id_,
    }


def _message(
    reply: Reply, content: list[dict[str, Json]], reading: Reading, id_: str
) -> dict[str, Json]:
    message: dict[str, Json] = {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "model": reading.model,
        "content": content,
        "stop_reason": reply.stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reading.tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": tokens(len(encode(content))),
            **reply.usage,
        },
    }
    if reply.stop == "refusal":
        message["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    return message
