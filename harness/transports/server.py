"""The server behind the loopback doors: a listener, a thread a connection, an orderly end.

It binds 127.0.0.1 and nothing else. A client that leaves, a request that is no HTTP and a shutdown
in the middle of a wait are ordinary ends here; none prints a traceback.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Callable

from harness.clock import real_monotonic
from harness.core.values.errors import InputError
from harness.transports.http import Connection

HOST = "127.0.0.1"
_BACKLOG = 1024
_JOIN_S = 5.0


class Server:
    """Has `serve` carry each connection to its end, between `start` and `close`.

    `join_s` is how long `close` waits for all that have not come to it.
    """

    def __init__(
        self, serve: Callable[[Connection], None], port: int, *, join_s: float = _JOIN_S
    ) -> None:
        self._carry, self._port, self._join_s = serve, port, join_s
        self._closing, self._alarm = socket.socketpair()
        self._lock = threading.Lock()
        self._serving: dict[threading.Thread, socket.socket] = {}
        self._acceptor: threading.Thread | None = None

    def start(self) -> str:
        """Bind, listen and serve from now on; the base URL. InputError when the port is taken."""
        try:
            listener = socket.create_server((HOST, self._port), backlog=_BACKLOG)
        except OSError as error:
            raise InputError(
                f"cannot listen on {HOST}:{self._port} ({error.strerror}); "
                "give another port, or 0 for a free one",
                "port",
            ) from None
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()
        return f"http://{HOST}:{listener.getsockname()[1]}"

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self._alarm.close()
        until_s = real_monotonic() + self._join_s
        if self._acceptor is not None:
            self._acceptor.join(_JOIN_S)
        with self._lock:
            serving = list(self._serving.items())
            for _, sock in serving:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RD)
        for thread, _ in serving:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until_s - real_monotonic()))
        self._closing.close()

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
            self._carry(Connection(sock, self._closing))
        finally:
            with self._lock:
                del self._serving[threading.current_thread()]
                sock.close()
