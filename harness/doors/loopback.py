"""The loopback door: an HTTP server for agents in any language, in real time.

One thread serves one connection. It binds 127.0.0.1 and nothing else. A client that leaves, a
request that is no HTTP and a shutdown in the middle of a wait are ordinary ends here; none prints
a traceback.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import msgspec

from harness.clock import Clock
from harness.core.errors import InputError
from harness.core.transition import Transition
from harness.doors.answering import Answering
from harness.doors.door import Door
from harness.doors.endpoints import INBOX, MCP, OUTBOX, TOOLS, Endpoints
from harness.doors.http import Connection

HOST = "127.0.0.1"
_BACKLOG = 128
_JOIN_S = 5.0


class Urls(msgspec.Struct, frozen=True):
    """Where the seams are. An SDK for OpenAI takes `model` with `/v1` behind it."""

    model: str
    inbox: str
    outbox: str
    tools: str
    mcp: str


class Loopback:
    """The server of one run, between `start` and `close`; a context manager does both.

    `urls` are where it listens. `port` 0 takes a free one. `start` raises InputError when a port
    is taken.
    """

    urls: Urls

    def __init__(self, transition: Transition, clock: Clock, *, port: int = 0) -> None:
        self.door, self._port = Door(transition, clock), port
        self._endpoints = Endpoints(self.door)
        self._closing, self._alarm = socket.socketpair()
        self._lock = threading.Lock()
        self._serving: dict[threading.Thread, socket.socket] = {}
        self._acceptor: threading.Thread | None = None

    def start(self) -> Urls:
        """Bind, listen and serve from now on."""
        try:
            listener = socket.create_server((HOST, self._port), backlog=_BACKLOG)
        except OSError as error:
            raise InputError(
                f"cannot listen on {HOST}:{self._port} ({error.strerror}); "
                "give another port, or 0 for a free one",
                "port",
            ) from None
        base = f"http://{HOST}:{listener.getsockname()[1]}"
        self.urls = Urls(base, base + INBOX, base + OUTBOX, base + TOOLS, base + MCP)
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()
        return self.urls

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self._alarm.close()
        if self._acceptor is not None:
            self._acceptor.join(_JOIN_S)
        with self._lock:
            serving = list(self._serving.items())
            for _, sock in serving:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RD)
        for thread, _ in serving:
            if thread is not threading.current_thread():
                thread.join(_JOIN_S)
        self._closing.close()

    @property
    def on_kill(self) -> Callable[[], None]:
        """What ends the target at a `Kill` step."""
        return self.door.on_kill

    @on_kill.setter
    def on_kill(self, kill: Callable[[], None]) -> None:
        self.door.on_kill = kill

    @property
    def on_stop(self) -> Callable[[], None]:
        """What ends the target once the run is over; no exception of ours can reach it."""
        return self.door.on_stop

    @on_stop.setter
    def on_stop(self, stop: Callable[[], None]) -> None:
        self.door.on_stop = stop

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self, listener: socket.socket) -> None:
        """Take connections until the alarm rings: a socket that is closed wakes all who watch."""
        with listener, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(self._closing, selectors.EVENT_READ)
            while all(key.fileobj is listener for key, _ in selector.select()):
                with contextlib.suppress(OSError):
                    self._spawn(listener.accept()[0])

    def _spawn(self, sock: socket.socket) -> None:
        thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
        with self._lock:
            self._serving[thread] = sock
        thread.start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            Answering(self.door, self._endpoints, Connection(sock, self._closing)).serve()
        finally:
            with self._lock:
                del self._serving[threading.current_thread()]
                sock.close()
