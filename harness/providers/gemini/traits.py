"""What faults ask about the Gemini API: the bytes that only a fault makes it say."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.gemini.errors import envelope, own
from harness.providers.gemini.record import RECORD


def _error_event(error: ApiError) -> bytes:
    return _event(envelope(error))


def _hollow(model: str, stream: bool) -> tuple[bytes, ...]:
    answer = {
        "candidates": [{"content": None, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": model,
    }
    return (_event(answer) if stream else msgspec.json.encode(answer),)


def _event(said: Mapping[str, Json]) -> bytes:
    return b"data: %b\r\n\r\n" % msgspec.json.encode(said)


TRAITS = ProviderTraits(
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    arguments="object",
    own_error=own,
    model_field="modelVersion",
    other_model="gemini-2.5-flash",
    reads_past_the_end=True,
    output_count="candidatesTokenCount",
    error_event=_error_event,
    hollow=_hollow,
    outline=_event,
)
