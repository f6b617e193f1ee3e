"""The in-process transport for HTTP clients of httpx2 and httpx, sync and async.

A request's class gives its library, so neither is imported here. `Response(content=...)` costs four
fifths of a response for unchanged bytes. So `whole_response` sets the libraries' private fields for
body and headers, while they exist. A property test holds both ways equal.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Hashable, Iterator
from functools import cache, lru_cache
from types import ModuleType
from typing import Any, NoReturn, Self

from harness.clock.turns import turn_of_task
from harness.core.values.errors import HarnessError, RunStopped
from harness.core.values.plans import (
    ON_THE_WAY_S,
    Close,
    Head,
    Kill,
    Plan,
    Raise,
    Step,
    Wait,
    patience_ms,
)
from harness.transports import http_exchange
from harness.transports.dispatcher import Dispatcher, at_once
from harness.transports.http_exchange import DISCONNECTED, HttpExchange, exchange_of
from harness.transports.session_paths import decoded_path, split_session

_LENGTH = b"content-length"
"""It is of the body, which is here; without it, most requests of a run have equal headers."""

_Lines = list[tuple[bytes, bytes, bytes]]
"""Headers as the libraries keep them: as sent, by lower-case name, and the value."""

_RESET = "[Errno 104] Connection reset by peer"
_RAISES = {
    "timeout": ("ReadTimeout", "The read operation timed out"),
    "connect": ("ConnectError", "[Errno 111] Connection refused"),
    "dns": ("ConnectError", "[Errno -2] Name or service not known"),
    "connect_timeout": ("ConnectTimeout", "timed out"),
    "write_timeout": ("WriteTimeout", "The write operation timed out"),
}


class HttpxTransport:
    """A transport for a `Client` or an `AsyncClient` of httpx2 or httpx.

    Every request crosses the model seam; `prefix` begins the paths of its URL. Raises the library's
    own errors, and `RunStopped` when the run is over.
    """

    def __init__(self, dispatcher: Dispatcher, prefix: str = "") -> None:
        self._dispatcher, self._prefix = dispatcher, prefix
        self._last: tuple[_Lines, dict[str, str]] = [], {}

    def handle_request(self, request: Any) -> Any:
        """Answer a request of a synchronous client."""
        plan = self._plan(request, request.read(), *self._path(request))
        if (known := at_once(plan)) is not None:
            return whole_response(library_of(request.__class__), *known)
        carrier = _Carrier(self._dispatcher, request)
        answer = _as_exchange(plan)
        for step in answer.before:
            carrier.step(step)
        return carrier.response(answer)

    async def handle_async_request(self, request: Any) -> Any:
        """Answer a request of an asynchronous client."""
        body, (path, query) = await request.aread(), self._path(request)
        session, _ = split_session(path)
        in_turn = await turn_of_task(self._dispatcher.clock, "model", session)
        plan = self._plan(request, body, path, query, in_turn=in_turn)
        if (known := at_once(plan)) is not None:
            return whole_response(library_of(request.__class__), *known)
        carrier = _Carrier(self._dispatcher, request)
        answer = _as_exchange(plan)
        for step in answer.before:
            await carrier.astep(step)
        return carrier.response(answer)

    def _path(self, request: Any) -> tuple[str, str]:
        path, query = _target(request.url.raw_path)
        return path.removeprefix(self._prefix), query

    def _plan(
        self, request: Any, body: bytes, path: str, query: str, *, in_turn: bool = False
    ) -> Plan:
        headers = self._headers(request.headers)
        read_s = request.extensions.get("timeout", {}).get("read")
        timeout_ms = patience_ms(read_s)
        return self._dispatcher.model(
            request.method, path, headers, body, timeout_ms, query, in_turn=in_turn
        )

    def _headers(self, headers: Any) -> dict[str, str]:
        """Return headers by lower-case name; requests with equal ones share one dict."""
        lines, (last, read) = _lines_of(headers), self._last
        if last != lines:
            read = {name.decode("latin-1"): value.decode("latin-1") for _, name, value in lines}
            self._last = lines, read
        return read

    def close(self) -> None:
        """Nothing is held."""

    async def aclose(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Nothing is held."""


def _lines_of(headers: Any) -> _Lines:
    """Return the headers without the length; the libraries keep them without a public access."""
    try:
        lines = headers._list
    except AttributeError:
        lines = [(name, name.lower(), value) for name, value in headers.raw]
    return [line for line in lines if line[1] != _LENGTH]


@lru_cache(maxsize=64)
def _target(raw: bytes) -> tuple[str, str]:
    """Return path and query; the path is decoded."""
    path, _, query = raw.decode("ascii", "replace").partition("?")
    return decoded_path(path), query


@cache
def library_of(request_type: Hashable) -> ModuleType:
    """The library that requests of a type are made with; HarnessError when we do not know it."""
    assert isinstance(request_type, type)
    for base in request_type.__mro__:
        name = base.__module__.partition(".")[0]
        if name in ("httpx2", "httpx"):
            return sys.modules[name]
    raise HarnessError(f"the transport serves httpx2 and httpx, not {request_type.__module__}")


def _as_exchange(plan: Plan) -> HttpExchange:
    """Return the plan as an exchange; raw framing is read as a client reads it."""
    answer = exchange_of(plan)
    return http_exchange.read_raw(answer) if answer.head is None and answer.parts else answer


class _Carrier:
    def __init__(self, dispatcher: Dispatcher, request: Any) -> None:
        self._dispatcher, self._request = dispatcher, request
        self._library = library_of(request.__class__)
        self._begun = False

    def response(self, answer: HttpExchange) -> Any:
        """Return the response after the steps before its first byte."""
        if answer.head is None:
            self.fail("RemoteProtocolError", answer.broken or DISCONNECTED)
        self._begun = True
        body = _body_class(self._library)(self, answer)
        headers = answer.head.headers
        return self._library.Response(answer.head.status, headers=headers, stream=body)

    def step(self, step: Step) -> None:
        self._refuse(step)
        if isinstance(step, Kill):
            self._dispatcher.clock.sleep(ON_THE_WAY_S)
        self._dispatcher.carry_out(step)

    async def astep(self, step: Step) -> None:
        self._refuse(step)
        if isinstance(step, Wait):
            await self._dispatcher.clock.asleep(step.ms / 1000)
            return
        if isinstance(step, Kill):
            await self._dispatcher.clock.asleep(ON_THE_WAY_S)
        self._dispatcher.carry_out(step)

    def _refuse(self, step: Step) -> None:
        match step:
            case Raise("stop", text):
                raise RunStopped(text)
            case Raise(error, text):
                name, usual = _RAISES.get(error, ("ReadError", error))
                self.fail(name, text or usual)
            case Close(reset=True):
                self.fail("ReadError", _RESET)
            case Close() if not self._begun:
                self.fail("RemoteProtocolError", DISCONNECTED)

    def fail(self, name: str, text: str) -> NoReturn:
        raise getattr(self._library, name)(text, request=self._request)


@cache
def _body_class(library: ModuleType) -> Any:
    """Make the class of streamed bodies: clients insist on their library's base classes."""
    sync_base: Any = library.SyncByteStream
    async_base: Any = library.AsyncByteStream

    class Body(sync_base, async_base):  # type: ignore[misc]
        def __init__(self, carrier: _Carrier, answer: HttpExchange) -> None:
            self._carrier, self._answer = carrier, answer
            self._parts = iter(answer.parts)

        def __iter__(self) -> Iterator[bytes]:
            for part in self._parts:
                if isinstance(part, bytes):
                    yield part
                else:
                    self._carrier.step(part)
            self._end()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for part in self._parts:
                if isinstance(part, bytes):
                    yield part
                else:
                    await self._carrier.astep(part)
            self._end()

        def close(self) -> None:
            """Some clients read no further than the last event; a kill right after the bytes that
            they have meets them all the same."""
            following = next(self._parts, None)
            if isinstance(following, Kill):
                self._carrier.step(following)

        async def aclose(self) -> None:
            self.close()

        def _end(self) -> None:
            if short := self._answer.short:
                self._carrier.fail("RemoteProtocolError", short)

    return Body


_FRAMED = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
"""Headers that say how the bytes are to be read: with one of them, the library reads them."""


def whole_response(library: ModuleType, head: Head, body: bytes) -> Any:
    """The response with this head and body, read to its end."""
    lines = list(map(_line, head.headers.items()))
    if not body or None in lines or not _keeps_parts(library):
        return library.Response(head.status, headers=head.headers, content=body)
    response = library.Response(
        head.status, stream=library.ByteStream(body), extensions=_status_line(library, head.status)
    )
    response._content = body
    response.is_closed = response.is_stream_consumed = True
    lines.append((b"Content-Length", b"content-length", b"%d" % len(body)))
    response.headers._list = lines
    response.headers.encoding = "ascii"  # what it would find out; other text is refused above
    return response


@lru_cache(maxsize=256)
def _line(header: tuple[str, str]) -> tuple[bytes, bytes, bytes] | None:
    """Return a header as the library keeps it; None for a header about decoding.

    Raises UnicodeEncodeError where the library would.
    """
    name, value = header
    raw = name.encode("ascii")
    line = raw, raw.lower(), value.encode("ascii")
    return None if line[1] in _FRAMED else line


@cache
def _status_line(library: ModuleType, status: int) -> dict[str, bytes]:
    """Return the extensions that the library's own transports set."""
    reason = library.codes.get_reason_phrase(status)
    return {"http_version": b"HTTP/1.1", "reason_phrase": reason.encode("ascii")}


@cache
def _keeps_parts(library: ModuleType) -> bool:
    """Return whether the library keeps body and headers in the private fields we set."""
    response = library.Response(200, headers={"A": "b"}, content=b"x")
    read = vars(response)
    is_read = read.get("_content") == b"x" and read["is_closed"] and read["is_stream_consumed"]
    return bool(is_read and vars(response.headers).get("_list", [])[:1] == [_line(("A", "b"))])
