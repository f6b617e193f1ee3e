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
from types import TracebackType

import msgspec

from harness.core.errors import InputError
from harness.doors.answering import Answering
from harness.doors.door import Door
from harness.doors.endpoints import INBOX, OUTBOX, TOOLS, Endpoints
from harness.doors.http import Connection

HOST = "127.0.0.1"
_BACKLOG = 128
_JOIN_S = 5.0


class Urls(msgspec.Struct, frozen=True):
    """Where the seams are. An SDK for OpenAI takes `model_url` with `/v1` behind it."""

    model_url: str
    inbox_url: str
    outbox_url: str
    tools_url: str


class Loopback:
    """The server of one run; a context manager that gives its `Urls`.

    `port` 0 takes a free one. Raises InputError, at `start`, when a port is taken.
    """

    def __init__(self, door: Door, *, port: int = 0) -> None:
        self.door, self._port = door, port
        self._endpoints = Endpoints(door)
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
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()
        return Urls(base, base + INBOX, base + OUTBOX, base + TOOLS)

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

    def __enter__(self) -> Urls:
        return self.start()

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
