"""What faults ask about the Anthropic API: the bytes that only a fault makes it say."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.anthropic.errors import own
from harness.providers.anthropic.record import RECORD
from harness.providers.shared.sse import frame


def _error_event(error: ApiError) -> bytes:
    return frame("error", error={"type": error.type, "message": error.message})


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
        frame("message_start", message={**message, "stop_reason": None}),
        frame("message_delta", delta=ending, usage={"output_tokens": 1}),
        frame("message_stop"),
    )


def _outline(body: Mapping[str, Json]) -> bytes:
    return frame("message_start", message=body) + frame("message_stop")


TRAITS = ProviderTraits(
    endpoint=RECORD.path.rpartition("/")[2],
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    arguments="object",
    own_error=own,
    other_model="claude-haiku-4-5-20251001",
    names_events=True,
    reads_past_the_end=True,
    error_event=_error_event,
    hollow=_hollow,
    outline=_outline,
)
