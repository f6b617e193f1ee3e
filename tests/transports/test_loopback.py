"""The loopback server over raw sockets: how it frames answers, reads requests and refuses them."""

from __future__ import annotations

import json
import re
import socket
from contextlib import closing
from urllib.parse import urlsplit

import httpx2
import pytest

from harness.clock import VirtualClock
from harness.core.scenario.scenario import Scenario, Turn
from harness.core.values.plans import Head, Send, Wait
from harness.runner.prepare import transition_for
from harness.transports import http_connection
from harness.transports.loopback import Loopback
from tests.transports.test_httpx_transport import ENDS
from tests.transports.world import REQUEST, client, in_process, keys, loopback, met, transition

pytestmark = pytest.mark.usefixtures("no_traceback")

BODY = json.dumps(REQUEST).encode()
OK = Head(200, {"content-type": "text/plain"})


def address(server: Loopback) -> tuple[str, int]:
    return "127.0.0.1", urlsplit(server.urls.model).port or 0


def told(server: Loopback, data: bytes) -> bytes:
    """A request to the host `x` as one to the server, below its token."""
    url = urlsplit(server.urls.model)
    data = data.replace(b"host: x", b"host: " + url.netloc.encode())
    return re.sub(rb"(?<=POST )/", f"{url.path}/".encode(), data)


def raw(server: Loopback, data: bytes, *, leave: bool = False) -> bytes:
    """What the server says to these bytes until it closes; `leave`: no more bytes will come."""
    with closing(socket.create_connection(address(server), timeout=60)) as sock:
        sock.sendall(told(server, data))
        if leave:
            sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(1 << 16), b""))


LAST = "connection: close"


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: x", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


REFUSED = {"refused": "ReadError"}
"""A socket that was accepted cannot be refused any more: the nearest thing is a reset."""


@pytest.mark.parametrize("name", ENDS)
def test_a_plan_means_the_same_through_both_transports(name: str) -> None:
    plan, _ = ENDS[name]
    with client(in_process(bend=lambda _: plan, clock=VirtualClock())) as inner:
        inside = met(lambda: inner.post("/v1/messages", json=REQUEST))
    with loopback(transition(bend=lambda _: plan)) as server:
        url = f"{server.urls.model}/v1/messages"
        timeout = httpx2.Timeout(20, read=0.2 if inside == "ReadTimeout" else 20)
        outside = met(lambda: httpx2.post(url, json=REQUEST, timeout=timeout))
    assert outside == REFUSED.get(name, inside)


def test_what_is_known_at_once_is_one_segment_with_its_length() -> None:
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Send(b"b")))) as server:
        head, _, body = raw(server, post("/v1/messages", BODY, LAST)).partition(b"\r\n\r\n")
    assert b"content-length: 2" in head
    assert body == b"ab"


def test_what_comes_in_pieces_comes_in_chunks() -> None:
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Wait(1), Send(b"bc")))) as server:
        head, _, body = raw(server, post("/v1/messages", BODY, LAST)).partition(b"\r\n\r\n")
    assert b"transfer-encoding: chunked" in head
    assert body == b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"


def test_an_old_client_gets_no_chunks() -> None:
    request = post("/v1/messages", BODY).replace(b"HTTP/1.1", b"HTTP/1.0")
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Wait(1), Send(b"bc")))) as server:
        head, _, body = raw(server, request).partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert body == b"abc"


def test_requests_that_come_together_are_answered_in_turn_on_one_connection() -> None:
    with loopback(run := transition()) as server:
        post_one = post("/v1/messages", BODY)
        answer = raw(server, post_one * 2 + post("/v1/messages", BODY, LAST))
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert keys(run.history, "Called") == [f"main/model#{n}" for n in (1, 2, 3)]


def test_a_request_in_chunks_is_read_whole() -> None:
    framing = f"{LAST}\r\ntransfer-encoding: chunked\r\n\r\n"
    head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\n{framing}".encode()
    pieces = b"".join(http_connection.chunk(BODY[at : at + 7]) for at in range(0, len(BODY), 7))
    with loopback(transition()) as server:
        answer = raw(server, head + pieces + http_connection.LAST_CHUNK)
    assert answer.startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    head = post("/v1/messages", BODY, "expect: 100-continue")[: -len(BODY)]
    with (
        loopback(transition()) as server,
        closing(socket.create_connection(address(server), timeout=60)) as sock,
    ):
        sock.sendall(told(server, head))
        assert sock.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(BODY)
        assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"what is this\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", b"400"),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * (70 << 10), b"431"),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n", b"413"),
    ],
)
def test_what_is_no_good_request_is_told_so(data: bytes, status: bytes) -> None:
    with loopback(run := transition()) as server:
        answer = raw(server, data)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"loop-harness: " in answer
    assert run.history.events == []


def test_a_large_body_is_read() -> None:
    request = {**REQUEST, "messages": [{"role": "user", "content": "x" * (8 << 20)}]}
    with loopback(run := transition()) as server:
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=request)
    assert answer.status_code == 200
    assert run.history.past.calls["model"] == 1


@pytest.mark.parametrize("data", [b"", b"POST /v1", post("/v1/messages", BODY)[:-5]])
def test_a_client_that_leaves_early_is_no_call(data: bytes) -> None:
    with loopback(run := transition()) as server:
        assert b"200" not in raw(server, data, leave=True)
        assert httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST).status_code == 200
    assert keys(run.history, "Called") == ["main/model#1"]


def test_another_provider_answers_once_the_runs_own_has_been_asked() -> None:
    run = transition_for(Scenario(name="two", script=(Turn(say="hello", times="forever"),)))
    with Loopback(run, VirtualClock()) as server:
        paths = ("/v1/chat/completions", "/v1/messages", "/v1/chat/completions")
        statuses = [
            httpx2.post(server.urls.model + path, json=REQUEST).status_code for path in paths
        ]
    assert statuses == [404, 200, 200]
