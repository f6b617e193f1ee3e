"""Providers that do what no provider should, byte by byte on a socket."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import h11

Step: TypeAlias = bytes | threading.Event
"""Bytes to be sent, or what to wait for before going on."""

JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n"
WAIT_S = 20


def chunk(data: bytes) -> bytes:
    """A chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def whole(body: bytes, *headers: bytes, head: bytes = JSON_HEAD) -> bytes:
    """An answer with its length."""
    lines = b"".join(header + b"\r\n" for header in headers)
    return head + lines + b"content-length: %d\r\n\r\n" % len(body) + body


@contextlib.contextmanager
def upstream(*steps: Step, heard: list[bytes] | None = None) -> Iterator[str]:
    """A provider on loopback that answers every request by these steps and closes; its URL.

    The requests' heads and bodies go to `heard`.
    """
    yield from _served(lambda body: steps, heard if heard is not None else [])


@contextlib.contextmanager
def answering(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A provider on loopback that answers a request's body; its URL."""
    yield from _served(lambda body: (answer(body),), [])


def _served(steps: Callable[[bytes], Sequence[Step]], heard: list[bytes]) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threads.append(threading.Thread(target=_answer, args=(connection, steps, heard)))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (acceptor, *threads):
            thread.join(WAIT_S)


def _answer(
    connection: socket.socket, steps: Callable[[bytes], Sequence[Step]], heard: list[bytes]
) -> None:
    with connection, contextlib.suppress(OSError):
        head, body = _request(connection)
        heard.append(head + body)
        for step in steps(body):
            if isinstance(step, bytes):
                connection.sendall(step)
            else:
                step.wait(WAIT_S)


def _request(connection: socket.socket) -> tuple[bytes, bytes]:
    reader = h11.Connection(h11.SERVER)
    head, body = b"", b""
    while not isinstance(event := reader.next_event(), (h11.EndOfMessage, h11.ConnectionClosed)):
        if event is h11.NEED_DATA:
            reader.receive_data(connection.recv(1 << 16))
        elif isinstance(event, h11.Request):
            lines = [b"%b: %b\r\n" % header for header in event.headers]
            head = b"%b %b\r\n" % (event.method, event.target) + b"".join(lines) + b"\r\n"
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
    return head, body
