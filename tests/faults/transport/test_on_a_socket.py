"""What stands on the wire over loopback, byte by byte."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.faults.test_both_transports import run_of
from tests.transports.world import REQUEST, loopback


def sent(kind: str, more: str = "") -> bytes:
    """All that the server sends to one request, until it ends the connection."""
    body = json.dumps(REQUEST).encode()
    with loopback(run_of(kind)) as server:
        url = urlsplit(server.urls.model)
        port = url.port or 0
        head = f"POST {url.path}/v1/messages HTTP/1.1\r\nhost: localhost:{port}\r\n{more}"
        head += f"content-length: {len(body)}\r\n\r\n"
        with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as sock:
            sock.sendall(head.encode() + body)
            return b"".join(iter(lambda: sock.recv(1 << 16), b""))


def test_idle_connection_closed_says_that_it_is_kept_and_is_not() -> None:
    head, _, body = sent("transport.idle_connection_closed").partition(b"\r\n\r\n")
    assert b"connection: close" not in head
    assert b"keep-alive: timeout=0" in head
    assert f"content-length: {len(body)}".encode() in head


def test_the_request_after_a_dead_connection_takes_another() -> None:
    run = run_of("transport.idle_connection_closed")
    with loopback(run) as server, httpx2.Client() as http:
        url = f"{server.urls.model}/v1/messages"
        answers: list[int] = []
        while len(answers) < 2:
            try:
                answers.append(http.post(url, json=REQUEST).status_code)
            except httpx2.TransportError:
                assert len(answers) == 1, "only a connection that was used can be dead"
    assert answers == [200, 200]
    assert run.history.past.calls["model"] == 2


@pytest.mark.parametrize(
    ("kind", "start", "end"),
    [
        ("bad_status_line", b"HTTP/1.1 OK 200\r\ncontent-type: application/json\r\n", b"}"),
        ("answer_without_head", b'{"id":"msg_', b"}"),
        ("malformed_chunk_size", b"HTTP/1.1 200 OK\r\n", b"}"),
        ("extra_bytes_in_chunk", b"HTTP/1.1 200 OK\r\n", b"}xx\r\n0\r\n\r\n"),
        ("informational_storm", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 5 + b"HTTP/1.1 200", b"}"),
        ("slow_headers", b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n", b"}"),
    ],
)
def test_bytes_go_out_as_they_stand(kind: str, start: bytes, end: bytes) -> None:
    answer = sent(f"transport.{kind}")
    assert answer.startswith(start)
    assert answer.endswith(end)


@pytest.mark.parametrize("kind", ["trickle", "tiny_segments"])
def test_a_piece_is_a_chunk(kind: str) -> None:
    _, _, body = sent(f"transport.{kind}", "connection: close\r\n").partition(b"\r\n\r\n")
    chunks: list[Any] = body.split(b"\r\n")
    assert set(chunks[:-3:2]) == {b"1"}
    assert chunks[-3:] == [b"0", b"", b""]
