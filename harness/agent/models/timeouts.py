"""The limits on waits for a provider: for the connection, for bytes, and before a retry.

The SDK's read timeout of ten minutes never ends a stream of pings, which no SDK shows. So bytes are
watched below the SDK, on a monotonic clock that stops while a laptop sleeps. The anthropic SDK
obeys any `retry-after`, even a day. The openai SDK gives up beyond two minutes, and so does this
file. An SDK without middleware is left unchanged.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from harness.agent.models.failures import ModelFailure

SILENCE_MAX_S = 150.0
"""The longest silence before and within an answer."""

CONNECT_S = 5.0

RETRY_AFTER_MAX_S = 120.0
"""The longest wait that a provider may ask for."""

# Blanks, comments and pings keep a connection alive and hold no answer. The possessive `*+` does
# not backtrack, so a long run of them costs one pass.
_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
_Stream = TypeVar("_Stream")


def with_read_timeout(client: Any) -> Any:
    """The SDK's client with a read timeout of `SILENCE_MAX_S`; a timeout that is a single number
    stays."""
    usual: Any = getattr(client, "timeout", None)
    if not hasattr(usual, "read"):
        return client
    return client.with_options(timeout=type(usual)(SILENCE_MAX_S, connect=CONNECT_S))


def with_timeout(client: Any, timeout_s: float | None) -> Any:
    """The SDK's client with this timeout and one attempt, because each retry would wait that long
    again."""
    if timeout_s is None:
        return client
    return client.with_options(timeout=timeout_s, max_retries=0)


def failing_on_silence(stream: _Stream) -> _Stream:
    """Make an SDK's stream, before it is read, fail after `SILENCE_MAX_S` of silence.

    Reading it then raises ModelFailure.
    """
    response: Any = getattr(stream, "response", None)
    if response is not None:
        pieces = response.iter_bytes
        response.iter_bytes = lambda *size: _without_long_silence(pieces(*size))
    return stream


def _without_long_silence(pieces: Iterator[bytes]) -> Iterator[bytes]:
    heard_s = time.monotonic()
    for piece in pieces:
        now_s = time.monotonic()
        if _KEEP_ALIVE.fullmatch(piece) is None:
            heard_s = now_s
        elif now_s - heard_s >= SILENCE_MAX_S:
            raise ModelFailure("broken_stream", f"{SILENCE_MAX_S:g} s of nothing but pings")
        yield piece


def with_bounded_retry_after(client: Any) -> Any:
    """The client; a call fails at once if the provider asks for a wait over `RETRY_AFTER_MAX_S`."""
    with_middleware = getattr(client, "with_middleware", None)
    return client if with_middleware is None else with_middleware(_without_long_wait)


def _without_long_wait(request: Any, call_next: Callable[[Any], Any]) -> Any:
    """Make one attempt; an answer that asks for too long a wait is marked as final."""
    response = call_next(request)
    if response.status_code >= 400 and retry_after_s(response.headers) > RETRY_AFTER_MAX_S:
        response.headers["x-should-retry"] = "false"
    return response


def retry_after_s(headers: Mapping[str, str]) -> float:
    """The seconds that an answer asks to wait; 0 for a missing or unreadable header."""
    # The official SDKs read the headers in this order, and a date last.
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
    try:
        return parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0
