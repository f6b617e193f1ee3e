"""Requests that never end: they are bounded in time and, all together, in memory."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from harness.clock import RealClock
from harness.core.history.events import Refused
from harness.transports import http_connection, http_server
from harness.transports.http_connection import BodyBudget
from harness.transports.loopback import Loopback
from harness.transports.request_heads import RefusedRequest
from tests.transports.every_server import SERVERS, OpenServer, answer, run

pytestmark = pytest.mark.usefixtures("no_traceback")


def rest(sock: socket.socket) -> bytes:
    """What a server says until it closes."""
    try:
        return b"".join(iter(lambda: sock.recv(1 << 16), b""))
    except ConnectionError:
        return b""


@contextmanager
def connections(server: OpenServer, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        address = ("127.0.0.1", server.port)
        yield [
            stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(count)
        ]


def parts(server: OpenServer) -> dict[str, bytes]:
    """Beginnings of a request, none of which is whole."""
    request = server.request(connection="")
    chunked = server.request(**{"content-length": "", "transfer-encoding": "chunked"})
    head = chunked.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    return {
        "a line": b"POST /v1",
        "a head": request.partition(b"\r\n\r\n")[0],
        "a body": request[:-1],
        "a chunk": head + b"ff\r\nabc",
        "no last chunk": head + b"3\r\nabc\r\n",
    }


@pytest.mark.parametrize("name", ["model", "recording"])
def test_a_request_that_does_not_end_is_told_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_S", 0.2)
    with SERVERS[name]() as server:
        begun = parts(server)
        with connections(server, len(begun)) as slow:
            for sock, data in zip(slow, begun.values(), strict=True):
                sock.sendall(data)
            said = [rest(sock) for sock in slow]
        assert all(text.startswith(b"HTTP/1.1 408 ") for text in said), said
        assert all(b"a request is whole within" in text for text in said)
        assert answer(server, server.request()).startswith(b"HTTP/1.1 200 ")
        if name == "model" and server.history:
            assert sum(isinstance(e, Refused) for e in server.history.events) == len(begun)


def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_S", 0.1)
    with SERVERS["model"]() as server, connections(server, 1) as (idle,):
        assert rest(idle) == b""


def test_a_connection_may_rest_between_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_S", 0.1)
    with SERVERS["model"]() as server, connections(server, 2) as (kept, slow):
        kept.sendall(server.request(connection=""))
        assert kept.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        slow.sendall(b"POST")
        rest(slow)  # the time has passed
        kept.sendall(server.request())
        assert rest(kept).startswith(b"HTTP/1.1 200 ")


def test_slow_senders_hold_up_nobody() -> None:
    with SERVERS["model"]() as server, connections(server, 60) as slow:
        for number, sock in enumerate(slow):
            begun = list(parts(server).values())
            sock.sendall(begun[number % len(begun)])
        assert answer(server, server.request()).startswith(b"HTTP/1.1 200 ")


def test_bodies_have_a_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "BodyBudget", lambda: BodyBudget(4 << 20))
    with SERVERS["outbox"]() as server, connections(server, 6) as large:
        head = server.request(connection="", **{"content-length": str(2 << 20)})
        head = head.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        for sock in large:
            with contextlib.suppress(ConnectionError):  # refused, and gone
                sock.sendall(head + b" " * ((2 << 20) - 1))
        small = answer(server, server.request())
        said = list(map(_finished, large))
        again = answer(server, server._replace(body=b" " * (2 << 20)).request())
    assert small.startswith(b"HTTP/1.1 204 "), "a small body is taken meanwhile"
    assert any(b"the bodies of requests hold" in text for text in said), said
    assert {text[9:12] for text in said} <= {b"400", b"503", b""}, "whole and no JSON, or too much"
    assert again.startswith(b"HTTP/1.1 400 "), "the bytes were given back"


def _finished(sock: socket.socket) -> bytes:
    """Send the last byte of a body, and read what the server says to it or has said."""
    with contextlib.suppress(OSError):
        sock.sendall(b" ")
        sock.shutdown(socket.SHUT_WR)
    return rest(sock)


def test_an_answered_body_is_given_back_while_its_connection_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_server, "BodyBudget", lambda: BodyBudget(4 << 20))
    with SERVERS["recording"]() as server, ExitStack() as stack:
        for _ in range(2):
            kept = HTTPConnection("127.0.0.1", server.port, timeout=20)
            stack.callback(kept.close)
            for body in (b" " * (3 << 20), b"{}"):  # when the second is read, the first is answered
                kept.request("POST", server.path, body)
                answered = kept.getresponse()
                assert (answered.status, bool(answered.read())) == (200, True)


def test_a_share_is_left_for_each() -> None:
    budget, holders = BodyBudget(100), [object() for _ in range(4)]
    budget.hold(holders[0], 90)
    budget.hold(holders[1], 50)
    with pytest.raises(RefusedRequest, match="the bodies of requests hold 140 bytes together"):
        budget.hold(holders[1], 51)
    budget.hold(holders[2], 33)
    with pytest.raises(RefusedRequest):
        budget.hold(holders[2], 34)
    budget.release(holders[0])
    budget.release(holders[0])
    budget.hold(holders[3], 17)


def test_more_connections_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "connections_most", lambda: 5)
    with SERVERS["model"]() as server:
        with connections(server, 5) as open_ones:
            for sock in open_ones:
                sock.sendall(server.request(connection=""))
                assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
            with connections(server, 1) as (one_more,):
                said = rest(one_more)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"5 connections are open" in said
        while not (said := _answer_or_nothing(server)).startswith(b"HTTP/1.1 200 "):
            assert said == b"" or said.startswith(b"HTTP/1.1 503 "), said


def _answer_or_nothing(server: OpenServer) -> bytes:
    try:
        return answer(server, server.request())
    except ConnectionError:
        return b""


def test_a_client_that_reads_nothing_does_not_outlive_its_server() -> None:
    before = set(threading.enumerate())
    with Loopback(run(), RealClock()) as server:
        server._server._join_s = 0.2
        url = urlsplit(server.urls.model)
        deaf = socket.create_connection(("127.0.0.1", url.port or 0))
        line = f"GET {url.path}/harness/tools HTTP/1.1\r\nhost: {url.netloc}\r\n\r\n".encode()
        deaf.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while True:  # until the server, which cannot write, reads no more
                deaf.sendall(line * 1000)
    with deaf:
        for thread in set(threading.enumerate()) - before:
            thread.join(60)
            assert not thread.is_alive()
