"""What faults ask about the Responses API: the bytes that only a fault makes it say."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_responses.errors import envelope, own
from harness.providers.openai_responses.record import RECORD
from harness.providers.shared import openai
from harness.providers.shared.sse import frame


def _error_event(error: ApiError) -> bytes:
    """The error's fields stand beside the event's type, not below `error`; its code says what."""
    said = envelope(error)["error"]
    return frame("error", code=said["code"] or said["type"], message=error.message, param=None)


def _hollow(model: str, stream: bool) -> tuple[bytes, ...]:
    response = {
        "id": "resp_01",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "completed",
        "output": None,
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    }
    if not stream:
        return (msgspec.json.encode(response),)
    begun = {**response, "status": "in_progress"}
    return (
        frame("response.created", sequence_number=0, response=begun),
        frame("response.completed", sequence_number=1, response=response),
    )


def _outline(body: Mapping[str, Json]) -> bytes:
    return b"".join(
        frame(f"response.{name}", sequence_number=number, response=body)
        for number, name in enumerate(("created", "completed"))
    )


TRAITS = ProviderTraits(
    endpoint=RECORD.path.rpartition("/")[2],
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    own_error=own,
    other_model=openai.OTHER_MODEL,
    event_prefix="response.",
    error_event=_error_event,
    hollow=_hollow,
    outline=_outline,
)
