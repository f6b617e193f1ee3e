"""What faults ask about the Anthropic API: the bytes that only a fault makes it say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.anthropic.record import RECORD


def _error_event(type: str, message: str) -> bytes:
    return _event("error", error={"type": type, "message": message})


def _hollow(model: str, stream: bool) -> tuple[bytes, ...]:
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": None,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    if not stream:
        return (msgspec.json.encode(message),)
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    return (
        _event("message_start", message={**message, "stop_reason": None}),
        _event("message_delta", delta=ending, usage={"output_tokens": 1}),
        _event("message_stop"),
    )


def _outline(body: Mapping[str, Json]) -> bytes:
    return _event("message_start", message=body) + _event("message_stop")


def _event(name: str, **fields: Any) -> bytes:
    data = msgspec.json.encode({"type": name, **fields})
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


TRAITS = ProviderTraits(
    endpoint=RECORD.path.rpartition("/")[2],
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    arguments="object",
    spent=ApiError(429, "", "", code="enforced_spend_limit_reached"),
    names_events=True,
    reads_past_the_end=True,
    error_event=_error_event,
    hollow=_hollow,
    outline=_outline,
)
