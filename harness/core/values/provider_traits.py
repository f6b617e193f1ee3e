"""What a fault asks about a call's provider; the providers' packages give the values.

The core names no provider. Faults that write a provider's bytes, or depend on how its SDK reads
them, look here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from harness.core.values.messages import Json
from harness.core.values.plans import ApiError


def _error_event(type: str, message: str) -> bytes:
    error = {"error": {"type": type, "message": message}}
    return b"data: " + msgspec.json.encode(error) + b"\n\n"


def _nothing(model: str, stream: bool) -> tuple[bytes, ...]:
    return (b"",)


def _no_events(body: Mapping[str, Json]) -> bytes:
    return b""


class ProviderTraits(msgspec.Struct, frozen=True):
    """How a provider writes what only a fault makes it say, and what its SDK makes of it.

    `endpoint` is the last part of the path, for relative redirects. `arguments` says what a call's
    arguments are in a plain answer: an `object`, `json` text, or `text` that stands for itself.
    `keep_alive` is the event that keeps a stream alive, b"" for none. `spent` is the error of a
    spent budget, `requests_left` the header that counts the requests that are left, and
    `output_count` the name of the output tokens in a usage. `event_prefix` begins the types of all
    events. `error_event` writes an error in a stream from type and message, `hollow` an answer of
    a model, plain or as a stream, whose content is null, and `outline` the first and the last
    events of a stream that would say a plain body. The SDK drops events without a name
    (`names_events`), and raises an error behind the terminal event (`reads_past_the_end`).
    """

    endpoint: str = ""
    arguments: Literal["object", "json", "text"] = "json"
    keep_alive: bytes = b""
    spent: ApiError = ApiError(429, "", "")
    requests_left: str = "x-ratelimit-remaining-requests"
    output_count: str = "output_tokens"
    event_prefix: str = ""
    names_events: bool = False
    reads_past_the_end: bool = False
    error_event: Callable[[str, str], bytes] = _error_event
    hollow: Callable[[str, bool], tuple[bytes, ...]] = _nothing
    outline: Callable[[Mapping[str, Json]], bytes] = _no_events
