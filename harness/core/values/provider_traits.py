"""The facts about a provider that faults need; the providers' packages give the values.

The core names no provider. Faults that write a provider's bytes, or depend on its SDK's reading of
them, use these values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError


def _error_event(error: ApiError) -> bytes:
    said = {"error": {"type": error.type, "message": error.message}}
    return b"data: " + msgspec.json.encode(said) + b"\n\n"


def _unchanged(error: ApiError) -> ApiError:
    return error


def _nothing(model: str, stream: bool) -> tuple[bytes, ...]:
    return (b"",)


def _no_events(body: Mapping[str, Json]) -> bytes:
    return b""


class ProviderTraits(msgspec.Struct, frozen=True):
    """The forms that a provider's answers take only under a fault, and the SDK's reading of them.

    `endpoint` is the last part of the path, for relative redirects. `arguments` is the form of a
    call's arguments in a plain answer: an `object`, `json` text, or free `text`. `keep_alive` is
    the event that keeps a stream alive, b"" for none. `own_error` puts an error that names a
    neutral cause into the provider's words. `requests_left` is the header with the number of
    remaining requests. `output_count` is the name of the output tokens in a usage. `event_prefix`
    is the prefix of all event types. `error_event` writes an error in a stream, one that is in the
    provider's words already. `model_field` is the field of an answer that names the model,
    `other_model` a model that was not asked for. `hollow` writes a model's answer with null
    content, plain or as a stream. `outline` takes the body of a plain answer and writes the first
    and the last events of the same answer as a stream. `names_events`: the SDK drops events without
    a name. `reads_past_the_end`: the SDK raises an error that comes after the terminal event.
    """

    endpoint: str = ""
    arguments: Literal["object", "json", "text"] = "json"
    keep_alive: bytes = b""
    own_error: Callable[[ApiError], ApiError] = _unchanged
    requests_left: str = "ratelimit-remaining"
    output_count: str = "output_tokens"
    event_prefix: str = ""
    names_events: bool = False
    reads_past_the_end: bool = False
    error_event: Callable[[ApiError], bytes] = _error_event
    model_field: str = "model"
    other_model: str = ""
    hollow: Callable[[str, bool], tuple[bytes, ...]] = _nothing
    outline: Callable[[Mapping[str, Json]], bytes] = _no_events
