"""Many sessions at one server: each has its own requests, and garbage hurts none of them."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx2
import pytest

from harness.clock import RealClock
from harness.core.scenario.scenario import Limits, Turn
from harness.core.transition.transition import Transition
from harness.transports.http_connection import BODY_MOST_BYTES
from harness.transports.loopback import Loopback
from tests.transports.world import REQUEST, loopback, transition

CALLS = 3


def asked(number: int) -> dict[str, Any]:
    """The request of an agent that keeps its history."""
    messages = [*REQUEST["messages"]]
    for turn in range(number):
        messages += [
            {"role": "assistant", "content": f"answer {turn}"},
            {"role": "user", "content": f"question {turn}"},
        ]
    return {**REQUEST, "stream": True, "messages": messages}


async def posted(reader: Any, writer: Any, url: SplitResult, path: str, body: bytes) -> bytes:
    """One streamed exchange on an open connection: the body of the answer."""
    line = f"POST {url.path}{path}/v1/messages HTTP/1.1\r\nhost: {url.netloc}"
    head = f"{line}\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return bytes(await reader.readexactly(length))


async def conversation(session: str, url: SplitResult, ready: asyncio.Barrier) -> None:
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    await ready.wait()
    for number in range(CALLS):
        body = json.dumps(asked(number)).encode()
        answer = await posted(reader, writer, url, f"/s/{session}", body)
        assert b'"I am here."' in answer
        assert b"event: message_stop" in answer
    writer.close()


def play(count: int) -> Transition:
    """One run, in which this number of sessions streams at once."""
    limits = Limits.unreached(model_calls=CALLS * count)
    run = transition(Turn(say="I am here.", times=CALLS * count), stream=True, limits=limits)

    async def all_at_once(server: Loopback) -> None:
        ready, url = asyncio.Barrier(count), urlsplit(server.urls.model)
        await asyncio.gather(*(conversation(f"s{n}", url, ready) for n in range(count)))

    with Loopback(run, RealClock()) as server:
        asyncio.run(asyncio.wait_for(all_at_once(server), 120))
    return run


def messages_of(run: Transition) -> dict[str, list[int]]:
    """How many messages each request of each session held, in its order."""
    found: dict[str, list[int]] = {}
    for exchange in run.history.trace.exchanges:
        found.setdefault(exchange.called.session, []).append(exchange.node.depth)
    return found


def test_every_session_has_its_own_requests() -> None:
    run = play(20)
    assert messages_of(run) == {f"s{n}": [1, 3, 5] for n in range(20)}
    assert list(run.script.unplayed(run.history.past)) == []


@pytest.mark.real
def test_five_hundred_streamed_conversations_at_once() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(8192, hard)), hard))
    try:
        run = play(500)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert messages_of(run) == {f"s{n}": [1, 3, 5] for n in range(500)}


def raw(server: Loopback, data: bytes, *, end: Callable[[socket.socket], object]) -> bytes:
    """Send bytes to the server, end the connection in some way, and read what comes back.

    The host `h` is the server's, and the path is below its token.
    """
    url = urlsplit(server.urls.model)
    assert url.hostname is not None
    with socket.create_connection((url.hostname, url.port)) as sock:
        sock.settimeout(20)
        try:
            data = data.replace(b"host: h\r", f"host: {url.netloc}\r".encode())
            sock.sendall(data.replace(b" /", f" {url.path}/".encode(), 1))
            end(sock)
            return sock.recv(1 << 16)
        except OSError:
            return b""


def half_close(sock: socket.socket) -> None:
    sock.shutdown(socket.SHUT_WR)


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


ENDS = (half_close, reset, lambda sock: sock.close())
GARBAGE: tuple[Callable[[random.Random], bytes], ...] = (
    lambda draw: draw.randbytes(draw.randrange(1, 200)),
    lambda draw: b"\x16\x03\x01" + draw.randbytes(100),
    lambda draw: b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * draw.randrange(2000),
    lambda draw: b"POST /v1/messages HTTP/1.1\r\nhost: h\r\nx: " + b"a" * 70_000,
    lambda draw: b"POST /v1/messages HTTP/1.1\r\nhost: h\r\ncontent-length: 99\r\n\r\n{",
    lambda draw: b"POST /v1/messages HTTP/1.1\r\nhost: h\r\ncontent-length: -9\r\n\r\n{",
    lambda draw: b"POST /v1/messages HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nzz",
    lambda draw: b"POST /harness/outbox HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\n\r\n\xff\xfe{{",
    lambda draw: b"BREW /pot HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n",
    lambda draw: b"GET /" + b"a" * 60_000,
)


def pelted(count: int) -> tuple[set[threading.Thread], int]:
    """The threads that `count` pieces of garbage left, and the resident kilobytes that they cost.

    Not the number of threads: one that an earlier test of this process began may end in between.
    """
    draw = random.Random(7)
    before = set(threading.enumerate())
    with loopback(transition()) as server:
        sizes = []
        for number in range(count):
            make = GARBAGE[number % len(GARBAGE)]
            raw(server, make(draw), end=ENDS[draw.randrange(len(ENDS))])
            if number in (count // 5, count - 1):
                sizes.append(resident_kb())
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST)
        assert answer.status_code == 200
        assert answer.json()["content"][0]["text"] == "hello"
        assert server.dispatcher.transition.history.past.calls == {"model": 1}
    return set(threading.enumerate()) - before, sizes[1] - sizes[0]


def resident_kb() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def test_garbage_is_answered_and_forgotten(capfd: pytest.CaptureFixture[str]) -> None:
    left, _ = pelted(200)
    assert not left
    assert capfd.readouterr() == ("", "")


@pytest.mark.real
def test_ten_thousand_pieces_of_garbage_leave_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    left, grown_kb = pelted(10_000)
    assert not left
    assert grown_kb < 4096
    assert capfd.readouterr() == ("", "")


def test_a_slow_client_holds_up_nobody() -> None:
    with loopback(transition()) as server:
        url = urlsplit(server.urls.model)
        assert url.hostname is not None
        slow = [socket.create_connection((url.hostname, url.port)) for _ in range(50)]
        for sock in slow:
            sock.sendall(f"POST {url.path}/v1/messages HTTP/1.1\r\nhos".encode())
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST)
        assert answer.status_code == 200
        for sock in slow:
            sock.close()


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_gets_413(chunked: bool) -> None:
    framing = b"transfer-encoding: chunked" if chunked else b"content-length: %d" % (1 << 40)
    with loopback(transition()) as server:
        url = urlsplit(server.urls.model)
        assert url.hostname is not None
        host = b"host: " + url.netloc.encode()
        line = f"POST {url.path}/v1/messages HTTP/1.1".encode()
        head = b"\r\n".join((line, host, framing, b"", b""))
        with socket.create_connection((url.hostname, url.port)) as sock:
            sock.settimeout(20)
            sock.sendall(head)
            piece = b"%x\r\n" % (1 << 20) + b" " * (1 << 20) + b"\r\n"
            for _ in range(BODY_MOST_BYTES // (1 << 20) + 1 if chunked else 0):
                sock.sendall(piece)
            answer = sock.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"at most 67108864 bytes" in answer
        assert server.dispatcher.transition.history.events == []
