"""What faults ask about Chat Completions: the bytes that only a fault makes it say."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError
from harness.core.values.provider_traits import ProviderTraits
from harness.providers.openai_chat.errors import envelope, own
from harness.providers.openai_chat.record import RECORD
from harness.providers.openai_chat.stream import DONE
from harness.providers.shared import openai


def _error_event(error: ApiError) -> bytes:
    """Chat's events have no names, and its errors are chunks."""
    return _chunk(envelope(error))


def _hollow(model: str, stream: bool) -> tuple[bytes, ...]:
    message = {"role": "assistant", "content": None, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    body = {
        "id": "chatcmpl-01",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    if not stream:
        return (msgspec.json.encode(body),)
    delta = {"role": "assistant", "content": None}
    begun = {"index": 0, "delta": delta, "finish_reason": "stop"}
    return (_chunk({**body, "object": "chat.completion.chunk", "choices": [begun]}), DONE)


def _outline(body: Mapping[str, Json]) -> bytes:
    return _chunk({**body, "object": "chat.completion.chunk", "choices": []}) + DONE


def _chunk(said: Mapping[str, Json]) -> bytes:
    return b"data: %b\n\n" % msgspec.json.encode(said)


TRAITS = ProviderTraits(
    endpoint=RECORD.path.rpartition("/")[2],
    keep_alive=RECORD.keep_alive,
    requests_left=RECORD.headers.requests_left,
    arguments="text",
    own_error=own,
    other_model=openai.OTHER_MODEL,
    output_count="completion_tokens",
    error_event=_error_event,
    hollow=_hollow,
    outline=_outline,
)
