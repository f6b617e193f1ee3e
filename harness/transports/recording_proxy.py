"""The recording proxy: the real model behind a loopback URL, every exchange recorded.

Pieces go to the agent at once and are recorded with their times. A body that breaks off is recorded
as cut, and breaks off for the agent too. A cassette cannot hold a request without an answer: the
agent gets a 502, and `failures` lists it.

The proxy has the real key, and the dummy key that it replaces is public: a request without the
token of its URL goes nowhere, and is told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

from harness.cassettes.recorder import ReceivedAnswer, Recorder, SentRequest
from harness.cassettes.timing import Piece, Timing
from harness.clock import Clock, RealClock
from harness.core.values.plans import Head
from harness.transports.http_answers import error_bytes
from harness.transports.http_connection import (
    BODILESS,
    LAST_CHUNK,
    Connection,
    Hangup,
    Request,
    chunk,
    head_bytes,
)
from harness.transports.http_server import Server, carry
from harness.transports.request_heads import RefusedRequest
from harness.transports.session_paths import split_session
from harness.transports.upstream import Unreachable, Upstream, UpstreamAnswer

LEFT = "the client left"
_JOIN_S = 3.0
"""Who still waits for upstream when the recording is over is not waited for."""


_TOLD_MOST = 10


class RecordingProxy:
    """Serves one recording between `start` and `close`; a context manager does both.

    After `calls_max` requests it asks upstream no more: a loop costs money here. `refused` counts
    the requests of other programs, and `tell` is called for the first ones. `token` stands in
    `url`.
    """

    url: str

    def __init__(
        self,
        recorder: Recorder,
        upstream: Upstream,
        *,
        calls_max: int | None = None,
        clock: Clock | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.failures: list[str] = []
        self.refused, self._tell = 0, tell
        self._recorder, self._upstream = recorder, upstream
        self._calls_max, self._calls = calls_max, 0
        self._clock = clock or RealClock()
        self._lock = threading.Lock()
        self._server = Server(self._serve, 0, join_s=_JOIN_S)
        self.token = self._server.token

    def start(self) -> str:
        """Bind, listen and serve from now on; the base URL."""
        self.url = self._server.start()
        return self.url

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self._server.close()
        self._upstream.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _serve(self, connection: Connection) -> None:
        carry(connection, lambda request: self._forward(request, connection), self._refuse)

    def _forward(self, request: Request, connection: Connection) -> None:
        """Forward a request and its answer, and record both. Raises Hangup at a cut."""
        path = split_session(request.path)[1]
        with self._lock:
            self._calls += 1
            spent = self._calls_max is not None and self._calls > self._calls_max
        if spent:
            text = f"limits.model_calls = {self._calls_max}: no more calls are recorded"
            self._fail(connection, 400, text)
            raise Hangup
        place, at_ms = self._recorder.place(), self._clock.now_ms()
        try:
            with self._upstream.ask(request, path) as answer:
                asked = SentRequest(request.method, answer.url, request.headers, request.body)
                take = partial(self._recorder.take, place, asked)
                passing = _Passing(answer, request, connection, self._clock, at_ms, take)
                passing.run()
        except Unreachable as error:
            self._fail(connection, 502, str(error))
            raise Hangup from None
        if passing.cut:
            raise Hangup

    def _refuse(self, error: RefusedRequest) -> bytes:
        with self._lock:
            self.refused += 1
            is_told = self._tell is not None and self.refused <= _TOLD_MOST
        if is_told and self._tell is not None:
            text = f"refused {error.status} {error.request}: {error}"
            self._tell(f"{text}; it is not recorded, and no key went out for it")
        return _said(error.status, str(error))

    def _fail(self, connection: Connection, status: int, text: str) -> None:
        with self._lock:
            if text not in self.failures:
                self.failures.append(text)
        connection.write(_said(status, text))


def _said(status: int, text: str) -> bytes:
    return error_bytes(status, text, **{"x-should-retry": "false"})


class _Passing:
    """Record the answer before its last byte goes out: the client may then end the recording."""

    def __init__(
        self,
        answer: UpstreamAnswer,
        request: Request,
        connection: Connection,
        clock: Clock,
        at_ms: int,
        take: Callable[[ReceivedAnswer], None],
    ) -> None:
        self.cut = ""
        self._take = take
        self._answer, self._request, self._connection = answer, request, connection
        self._clock, self._at_ms = clock, at_ms
        self._bodiless = answer.status in BODILESS or request.method == "HEAD"
        self._chunked = answer.size_bytes is None and request.chunks and not self._bodiless
        self._came: list[tuple[bytes, int]] = []
        self._came_bytes = 0
        self._left = self._taken = False

    def run(self) -> None:
        if self._bodiless or self._answer.size_bytes == 0:
            self._end()
        self._write(head_bytes(Head(self._answer.status, self._answer.headers), **self._framing()))
        try:
            for data in self._pieces():
                if self._came_bytes == self._answer.size_bytes:
                    self._end()
                self._write(chunk(data) if self._chunked else data)
        except EOFError as error:
            self.cut = str(error)
        self._end()
        if self._chunked and not self.cut:
            self._write(LAST_CHUNK)

    def _end(self) -> None:
        if self._left and not self.cut:
            self.cut = LEFT
        if not self._taken:
            self._take(self._answer_taken())
        self._taken = True

    def _framing(self) -> dict[str, str]:
        framing = {"transfer_encoding": "chunked"} if self._chunked else {}
        if self._answer.size_bytes is not None:
            framing["content_length"] = str(self._answer.size_bytes)
        framed = bool(framing) or self._bodiless
        return framing if framed and self._request.reusable else {**framing, "connection": "close"}

    def _pieces(self) -> Iterator[bytes]:
        """Yield the pieces; note each with the time since the one before."""
        before = self._at_ms
        for data in self._answer.pieces():
            now = self._clock.now_ms()
            self._came.append((data, now - before))
            self._came_bytes += len(data)
            before = now
            if self._left:
                return
            yield data

    def _write(self, data: bytes) -> None:
        """Send bytes, unless the client has left: the recording keeps what came before."""
        try:
            if data and not self._left:
                self._connection.write(data)
        except Hangup:
            self._left = True

    def _answer_taken(self) -> ReceivedAnswer:
        """Return the answer to record; only a stream keeps its separate pieces."""
        answer, body = self._answer, b"".join(data for data, _ in self._came)
        pieces = tuple(Piece(len(data), wait_ms) for data, wait_ms in self._came)
        if "event-stream" not in answer.headers.get("content-type", "") and pieces:
            pieces = (Piece(len(body), sum(piece.wait_ms for piece in pieces)),)
        timing = Timing(self._at_ms, pieces, self.cut)
        return ReceivedAnswer(answer.status, answer.reason, answer.headers, body, timing)
