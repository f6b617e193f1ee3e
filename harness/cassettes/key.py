"""What determines an answer: the canonical key of a request.

The messages are named by their digests, so that the key of a long request follows from the last
one and what is new. The rest (model, system, tools, `max_tokens`, `stream` and every other setting
of the body) makes one more digest. Left out: `cache_control`, which only says what is dear, and
`metadata`, which names a user; query and headers of the request are no part of it either, so that
`/v1/messages?beta=true` and `/v1/messages` are one.
"""

from __future__ import annotations

import msgspec

from harness.cassettes.redact import mask_value
from harness.core.calls import Call, ModelRequest
from harness.core.messages import Json, Message, ToolSpec, digest
from harness.core.ports import Reading

_VOLATILE = frozenset({"cache_control", "metadata"})


class Head(msgspec.Struct, frozen=True):
    """A request without its messages, as values; its digest is the head's part of the key."""

    model: str
    system: Json = ""
    tools: list[Json] = []
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    settings: dict[str, Json] = {}


def head_of_reading(reading: Reading) -> Head:
    """The head of a recorded request."""
    return Head(
        reading.model,
        reading.system,
        _plain(reading.tools),
        reading.tools_offered,
        reading.max_tokens,
        reading.stream,
        _lasting(reading.settings),
    )


def head_of_call(call: Call) -> Head:
    """The head of a live request."""
    request = call.request
    assert isinstance(request, ModelRequest), request
    return Head(
        request.model,
        call.system,
        _plain(call.tools),
        request.tools_offered,
        request.max_tokens,
        request.stream,
        _lasting(call.settings),
    )


def _lasting(settings: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in settings.items() if name not in _VOLATILE}


def _plain(tools: tuple[ToolSpec, ...]) -> list[Json]:
    return [msgspec.to_builtins(tool) for tool in tools]


def masked_head(head: Head) -> Head:
    """The head as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(head)), type=Head)


def masked_message(message: Message) -> Message:
    """The message as a recording would hold it."""
    return msgspec.convert(mask_value(msgspec.to_builtins(message)), type=Message)


def name_head(head: Head) -> str:
    """The digest of a head."""
    return digest(head)
