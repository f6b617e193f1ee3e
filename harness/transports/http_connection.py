"""HTTP framing on a socket: requests by `request_heads` and h11, answers by our own code.

Every request is checked here before a server gets it: `access_check` says whose it may be. Answers
are framed here because HTTP libraries refuse to send half a body or a head alone.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from http import HTTPStatus

import h11
import msgspec

from harness.clock import real_monotonic, real_waits
from harness.core.values.plans import Head
from harness.transports.access_check import AccessCheck
from harness.transports.request_heads import HEAD_MOST_BYTES, PlainHeads, RefusedRequest

BODY_MOST_BYTES = 64 << 20
BODIES_MOST_BYTES = 128 << 20
"""The most that the bodies of one server take together."""
_READ_BYTES = 1 << 16
_DRAIN_MOST_BYTES = 1 << 20
_DRAIN_S, _DRAIN_MOST_S = 0.5, 2.0
REQUEST_S = 60.0
"""Within this time of its first byte a request is whole, and a new connection has a request."""
_LEAST_S = 0.001
"""The least time-out of a socket: with 0 it would not wait at all, but raise at once."""
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER, on, with 0 s: `close` then sends RST in place of FIN."""
BODILESS = frozenset({204, 304})


class Hangup(Exception):
    """The connection ends here, in order or by a reset."""

    def __init__(self, *, reset: bool = False) -> None:
        super().__init__("reset" if reset else "closed")
        self.reset = reset


class Request(msgspec.Struct, frozen=True):
    """A request; header names are in lower case, and do not include the length of the body.

    `reusable`: the client takes another answer.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    reusable: bool
    chunks: bool
    query: str = ""


class BodyBudget:
    """The bytes of bodies that connections hold, unfinished or unanswered, under one bound.

    Beyond the bound a connection may still grow up to an equal share. So a few large bodies that
    never end do not keep small ones out. Safe to share by threads.
    """

    def __init__(self, most_bytes: int = BODIES_MOST_BYTES) -> None:
        self._most, self._total = most_bytes, 0
        self._held: dict[object, int] = {}
        self._lock = threading.Lock()

    def hold(self, owner: object, size_bytes: int) -> None:
        """Say how much a connection holds by now. Raises RefusedRequest when it is too much."""
        with self._lock:
            total = self._total - self._held.get(owner, 0) + size_bytes
            holders = len(self._held) + (owner not in self._held)
            if total > self._most and size_bytes > self._most // holders:
                text = (
                    f"the bodies of requests hold {self._total} bytes together, and may hold "
                    f"{self._most}: send this one again later"
                )
                raise RefusedRequest(503, text)
            self._held[owner], self._total = size_bytes, total

    def release(self, owner: object) -> None:
        """The connection holds nothing any more."""
        with self._lock:
            self._total -= self._held.pop(owner, 0)


class Connection:
    """One client's connection. `closing` becomes readable when the server shuts down; `token`
    begins every path, and requests come without it.

    A slow client costs its own thread only, and only for `REQUEST_S`.
    """

    def __init__(
        self, sock: socket.socket, closing: socket.socket, bodies: BodyBudget, token: str
    ) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _timeval(REQUEST_S))
        self._socket, self._closing = sock, closing
        self._bodies, self._holds = bodies, False
        self._rest, self._until_s, self._is_new = b"", 0.0, True
        self._heads, self._access = PlainHeads(), AccessCheck(sock.getsockname()[1], token)

    def requests(self) -> Iterator[Request]:
        """The requests as they come, until the client leaves. Raises RefusedRequest and Hangup."""
        while (request := self._request()) is not None:
            yield request

    def _request(self) -> Request | None:
        self._release()
        self._until_s = 0.0
        data = self._rest or (self._first() if self._is_new else self._read())
        if not data:
            return None
        head = self._heads.read(data)
        if head is None or head.length > BODY_MOST_BYTES:
            self._rest = data
            return self._odd_request()
        path = self._access.path(head.method, head.path, head.headers)
        body = self._body(data, head.end, head.end + head.length)
        return Request(
            head.method, path, head.headers, body, reusable=True, chunks=True, query=head.query
        )

    def _body(self, data: bytes, start: int, end: int) -> bytes:
        """Return bytes `start` to `end` of `data` and what follows it; keep the rest."""
        if len(data) < end:
            parts, left = [data[start:]], end - len(data)
            while left > 0:
                parts.append(self._more())
                left -= len(parts[-1])
                self._hold(end - start - left)
                if not parts[-1]:
                    raise RefusedRequest(
                        400, "the connection ended in the middle of a request's body"
                    )
            data, start, end = b"".join(parts), 0, end - start
        self._rest = data[end:]
        return data[start:end]

    def _odd_request(self) -> Request | None:
        reader = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MOST_BYTES)
        reader.receive_data(self._rest) if self._rest else None
        head: h11.Request | None = None
        headers: dict[str, str] = {}
        body, target = bytearray(), ""
        left = BODY_MOST_BYTES
        while True:
            event = self._event(reader)
            if isinstance(event, h11.Data):
                left -= len(event.data)
                body += event.data
                _check_size(left)
                self._hold(len(body))
            elif isinstance(event, h11.Request):
                head, headers = event, _headers(event)
                target = self._access.target(event, headers)
                _check_size(left - int(headers.pop("content-length", 0)))
                if reader.they_are_waiting_for_100_continue:
                    self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                self._rest = bytes(reader.trailing_data[0])
                return _odd(head, target, headers, bytes(body))
            else:
                return None

    def _event(self, reader: h11.Connection) -> object:
        try:
            while (event := reader.next_event()) is h11.NEED_DATA:
                reader.receive_data(self._more())
        except h11.RemoteProtocolError as error:
            raise RefusedRequest(error.error_status_hint, f"{error}") from None
        return event

    def _hold(self, size_bytes: int) -> None:
        """Count a body that is larger than one read. Raises RefusedRequest beyond the bound."""
        if size_bytes > _READ_BYTES:
            self._holds = True
            self._bodies.hold(self, size_bytes)

    def _release(self) -> None:
        if self._holds:
            self._bodies.release(self)
            self._holds = False

    def _first(self) -> bytes:
        """The first bytes of a new connection. A client that sends none is left."""
        self._is_new = False
        try:
            return self._more()
        except RefusedRequest:
            raise Hangup from None

    def _more(self) -> bytes:
        """More of a request. Raises RefusedRequest when its time is over.

        Nearly every request is whole with one more read, and the socket itself bounds that.
        """
        try:
            if not self._until_s:
                self._until_s = real_monotonic() + REQUEST_S
                return self._received()
            return self._received_in(self._until_s - real_monotonic())
        except (TimeoutError, BlockingIOError):
            text = f"a request is whole within {REQUEST_S:.0f} s here, and this one is not"
            raise RefusedRequest(408, text) from None

    def _received_in(self, seconds: float) -> bytes:
        self._socket.settimeout(max(_LEAST_S, seconds))
        try:
            return self._received()
        finally:
            self._socket.settimeout(None)

    def _read(self) -> bytes:
        """The next bytes, whenever they come."""
        while True:
            with contextlib.suppress(BlockingIOError):  # the socket's own bound has passed
                return self._received()

    def _received(self) -> bytes:
        try:
            return self._socket.recv(_READ_BYTES)
        except (TimeoutError, BlockingIOError):
            raise
        except OSError:
            raise Hangup from None

    def write(self, data: bytes) -> None:
        """Send bytes at once. Raises Hangup when the client has gone."""
        try:
            self._socket.sendall(data)
        except OSError:
            raise Hangup from None

    def pause(self, seconds: float | None) -> None:
        """Wait this number of seconds, without end for None.

        Raises Hangup when the client goes or the server closes. The latter is a reset: half an
        answer whose body ends with the connection would look whole after an orderly end.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._closing, selectors.EVENT_READ)
            for each_s in real_waits(seconds):
                ready = [key.fileobj for key, _ in selector.select(each_s)]
                if self._closing in ready or (ready and self._has_gone()):
                    raise Hangup(reset=self._closing in ready)
                if ready:  # the next request is here already: let it wait
                    selector.unregister(self._socket)

    def _has_gone(self) -> bool:
        try:
            return not self._socket.recv(1, socket.MSG_PEEK)
        except OSError:  # the client has reset the connection
            return True

    def close(self, *, reset: bool = False) -> None:
        """End the connection: by FIN, after reading what is still on its way, or by RST."""
        self._release()
        try:
            if reset:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            else:
                self._socket.shutdown(socket.SHUT_WR)
                self._drain()
        except OSError:  # the client has closed the connection already
            pass
        self._socket.close()

    def _drain(self) -> None:
        """Read on for a while: closing with unread bytes resets and loses our answer."""
        self._socket.settimeout(_DRAIN_S)
        left, until_s = _DRAIN_MOST_BYTES, real_monotonic() + _DRAIN_MOST_S
        while left > 0 and (data := self._socket.recv(_READ_BYTES)):
            left -= len(data)
            if real_monotonic() > until_s:
                return


def _timeval(seconds: float) -> bytes:
    return struct.pack("ll", int(seconds), int(seconds % 1 * 1_000_000))


def _headers(head: h11.Request) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): value.decode("latin-1")
        for name, value in head.headers.raw_items()
    }


def _check_size(left: int) -> None:
    if left < 0:
        raise RefusedRequest(413, f"a request body has at most {BODY_MOST_BYTES} bytes here")


def _odd(head: h11.Request, target: str, headers: dict[str, str], body: bytes) -> Request:
    modern = head.http_version >= b"1.1"
    path, _, query = target.partition("?")
    return Request(
        method=head.method.decode("ascii"),
        path=path,
        headers=headers,
        body=body,
        reusable=modern and "close" not in headers.get("connection", "").lower(),
        chunks=modern,
        query=query,
    )


def head_bytes(head: Head, **framing: str) -> bytes:
    """Status line and headers; `framing` (underscores for hyphens) comes last."""
    last = [f"{name.replace('_', '-')}: {value}\r\n".encode() for name, value in framing.items()]
    return b"".join((*_lines(head), *last, b"\r\n"))


def _lines(head: Head) -> tuple[bytes, ...]:
    """Return the status line and headers, except those that frame the body."""
    return (_status_line(head.status), *map(_line, head.headers.items()))


@lru_cache(maxsize=256)
def _line(header: tuple[str, str]) -> bytes:
    """Return a header on the wire; nearly the same ones are in every answer."""
    return b"%b: %b\r\n" % (header[0].encode(), header[1].encode())


@cache
def _status_line(status: int) -> bytes:
    return f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\n".encode()


def whole_answer(head: Head, body: bytes, *, reusable: bool) -> bytes:
    """An answer whose body is known, in one piece."""
    length = b"" if head.status in BODILESS else b"content-length: %d\r\n" % len(body)
    close = b"" if reusable else b"connection: close\r\n"
    return b"".join((*_lines(head), length, close, b"\r\n", body))


def chunk(data: bytes) -> bytes:
    """A chunk of a body of unknown length; nothing for no bytes, for that would end it."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


LAST_CHUNK = b"0\r\n\r\n"

_REASONS = {status.value: status.phrase for status in HTTPStatus}
