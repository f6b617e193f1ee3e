"""An answer that is sent as it stands, as a client's own HTTP parser would read it.

A plan whose first bytes have no head brings its own status line and framing, or none at all. Over
a socket it needs no reading. In process there is no socket, so the parser that the HTTP libraries
ride on (h11) reads it here, and what it says of broken bytes is what the client is told.
"""

from __future__ import annotations

from collections.abc import Iterator

import h11

from harness.core.values.plans import Close, Head, Step
from harness.transports.exchange import Exchange, Part

HEAD_MOST_BYTES = 100 << 10


def read(answer: Exchange) -> Exchange:
    """The exchange that the bytes of `answer` make.

    Its `broken` says what is wrong with them, "" when nothing is. Without a head not even the head
    could be read.
    """
    reader = _Reader()
    for part in answer.parts:
        if isinstance(part, bytes):
            reader.take(part)
        else:
            reader.steps(part)
        if reader.over:
            break
    if not reader.over and not _ends_otherwise(answer):
        reader.take(b"")
    return Exchange(
        before=(*answer.before, *reader.before),
        head=reader.head,
        parts=tuple(reader.parts),
        declared=None,
        chunked=False,
        cut=False,
        broken=reader.broken,
    )


def _ends_otherwise(answer: Exchange) -> bool:
    """Whether the last step raises or resets: then it, and no parser, says what is wrong."""
    last = answer.parts[-1] if answer.parts else None
    return last is not None and not isinstance(last, bytes) and last != Close()


class _Reader:
    """Reads the answer to one request, part by part."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_MOST_BYTES)
        self._http.send(h11.Request(method="POST", target="/", headers=[("host", "x")]))
        self._http.send(h11.EndOfMessage())
        self.head: Head | None = None
        self.before: list[Step] = []
        self.parts: list[Part] = []
        self.broken, self.over = "", False

    def steps(self, step: Step) -> None:
        """A step between bytes, before the head or after it; an end in order is the parser's."""
        if step == Close():
            return
        if self.head is None:
            self.before.append(step)
        else:
            self.parts.append(step)

    def take(self, data: bytes) -> None:
        """More bytes; none are the end of the connection."""
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
