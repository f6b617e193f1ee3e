"""A plan as one HTTP exchange: what comes before the first byte, the head, the body's parts.

The head defines the body's end. A `Close` breaks a short `content-length` body or a chunked one;
without either header it is the ordinary end.

A first `Send` without a head is raw: a socket sends its bytes unchanged. In process, `read_raw`
parses them with h11, as HTTP libraries do.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import h11
import msgspec

from harness.core.values.plans import Close, Head, Plan, Raise, Send, Step

Part = bytes | Step

SILENT = frozenset({"timeout", "connect_timeout", "write_timeout"})
"""Errors that are met by waiting: nothing happens until the client gives up."""

CONNECTION_ERRORS = SILENT | {"connect", "dns", "stop"}
"""Errors of the way, and not of what is at its end."""

DISCONNECTED = "Server disconnected without sending a response."
CUT_CHUNKED = (
    "peer closed connection without sending complete message body (incomplete chunked read)"
)


class HttpExchange(msgspec.Struct, frozen=True):
    """One answer. Sends without a step between them are one part.

    `before` is carried out before any byte, `parts` in order after the head, up to the first
    `Close` or `Raise`. `declared` is the head's content length, None without one; `chunked` says
    that the head announces chunks; `cut` that a body of chunks has no last one. `broken` is what a
    parser says where the bytes break HTTP.
    """

    before: tuple[Step, ...]
    head: Head | None
    parts: tuple[Part, ...]
    declared: int | None = None
    chunked: bool = False
    cut: bool = False
    broken: str = ""

    @property
    def whole(self) -> bytes | None:
        """The whole body where it is known at once, else None."""
        if not self.parts:
            return b""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, bytes) else None

    @property
    def short(self) -> str:
        """What a client says of a body that stops here, "" when it is whole."""
        if self.broken:
            return self.broken
        size_bytes = sum(len(part) for part in self.parts if isinstance(part, bytes))
        if self.declared is not None and size_bytes < self.declared:
            return (
                "peer closed connection without sending complete message body "
                f"(received {size_bytes} bytes, expected {self.declared})"
            )
        return CUT_CHUNKED if self.cut else ""


def exchange_of(plan: Plan) -> HttpExchange:
    """The plan as an exchange; a declared length cuts what goes beyond it."""
    start = next((n for n, step in enumerate(plan) if isinstance(step, Send)), len(plan))
    first = plan[start] if start < len(plan) else None
    head = first.head if isinstance(first, Send) else None
    named = {k.lower(): v for k, v in head.headers.items()} if head else {}
    length = named.get("content-length", "")
    declared = int(length) if length.isdecimal() else None
    chunked = declared is None and "chunked" in named.get("transfer-encoding", "").lower()
    parts = _parts(plan[start:])
    return HttpExchange(
        before=plan[:start],
        head=head,
        parts=parts if declared is None else _cut(parts, declared),
        declared=declared,
        chunked=chunked,
        cut=chunked and Close() in parts,
    )


def _parts(steps: Plan) -> tuple[Part, ...]:
    parts: list[Part] = []
    for sends, run in groupby(steps, lambda step: isinstance(step, Send)):
        if sends:
            parts.append(b"".join(step.data for step in run if isinstance(step, Send)))
            continue
        for step in run:
            parts.append(step)
            if isinstance(step, (Close, Raise)):
                return tuple(parts)
    return tuple(parts)


def _cut(parts: tuple[Part, ...], declared: int) -> tuple[Part, ...]:
    """Drop the bytes after the declared end, which no client reads."""
    kept: list[Part] = []
    left = declared
    for part in parts:
        if isinstance(part, bytes):
            part, left = part[:left], max(0, left - len(part))
        kept.append(part)
    return tuple(kept)


RAW_HEAD_MOST_BYTES = 100 << 10


def read_raw(answer: HttpExchange) -> HttpExchange:
    """The exchange that the bytes of `answer` make.

    Its `broken` says what is wrong with them, "" when nothing is. Without a head not even the head
    could be read.
    """
    reader = _RawReader()
    for part in answer.parts:
        if isinstance(part, bytes):
            reader.take(part)
        else:
            reader.steps(part)
        if reader.over:
            break
    if not reader.over and not _ends_otherwise(answer):
        reader.take(b"")
    return HttpExchange(
        before=(*answer.before, *reader.before),
        head=reader.head,
        parts=tuple(reader.parts),
        broken=reader.broken,
    )


def _ends_otherwise(answer: HttpExchange) -> bool:
    """Return whether the last step raises or resets: it then names the error, not the parser."""
    last = answer.parts[-1] if answer.parts else None
    return last is not None and not isinstance(last, bytes) and last != Close()


class _RawReader:
    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=RAW_HEAD_MOST_BYTES)
        self._http.send(h11.Request(method="POST", target="/", headers=[("host", "x")]))
        self._http.send(h11.EndOfMessage())
        self.head: Head | None = None
        self.before: list[Step] = []
        self.parts: list[Part] = []
        self.broken, self.over = "", False

    def steps(self, step: Step) -> None:
        """Take a step between bytes; the parser handles an orderly end."""
        if step == Close():
            return
        if self.head is None:
            self.before.append(step)
        else:
            self.parts.append(step)

    def take(self, data: bytes) -> None:
        """Take bytes; empty ones are the end of the connection."""
        try:
            self._http.receive_data(data)
            for event in self._events():
                self._event(event)
        except h11.RemoteProtocolError as error:
            self.broken, self.over = str(error), True

    def _events(self) -> Iterator[object]:
        while not self.over:
            event = self._http.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED):
                return
            yield event

    def _event(self, event: object) -> None:
        match event:
            case h11.Response():
                named = event.headers.raw_items()
                headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in named}
                self.head = Head(event.status_code, headers)
            case h11.Data():
                self.parts.append(bytes(event.data))
            case h11.EndOfMessage() | h11.ConnectionClosed():
                self.over = True
