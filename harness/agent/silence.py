"""How long the provider may be silent before a request is given up.

A client's time-out of reads ends the wait for bytes, and the SDK's is ten minutes. It never ends a
stream of pings: they are bytes, and no SDK shows them to its caller. So the bytes are watched here,
below the SDK, and what only keeps the connection open is no answer. Time is monotonic, which stands
still while a laptop sleeps.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, TypeVar

from harness.agent.failures import ModelFailure

SILENT_S = 150.0
"""The longest silence in an answer, and before it."""

CONNECT_S = 5.0

_KEEP_ALIVE = re.compile(rb"(?:\s|:[^\r\n]*+|event: ?ping\r?\n|data: ?\{\"type\": ?\"ping\"\})*+")
_Stream = TypeVar("_Stream")


def impatient(client: Any) -> Any:
    """The SDK's client, which waits `SILENT_S` for bytes; a time-out in one number stays."""
    usual: Any = getattr(client, "timeout", None)
    if not hasattr(usual, "read"):
        return client
    return client.with_options(timeout=type(usual)(SILENT_S, connect=CONNECT_S))


def watched(stream: _Stream) -> _Stream:
    """An SDK's stream, not yet read, that fails once it has been silent for `SILENT_S`.

    Reading it raises ModelFailure then.
    """
    response: Any = getattr(stream, "response", None)
    if response is not None:
        pieces = response.iter_bytes
        response.iter_bytes = lambda *size: _spoken(pieces(*size))
    return stream


def _spoken(pieces: Iterator[bytes]) -> Iterator[bytes]:
    heard_s = time.monotonic()
    for piece in pieces:
        now_s = time.monotonic()
        if _KEEP_ALIVE.fullmatch(piece) is None:
            heard_s = now_s
        elif now_s - heard_s >= SILENT_S:
            raise ModelFailure("broken_stream", f"{SILENT_S:g} s of nothing but pings")
        yield piece
