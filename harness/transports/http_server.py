"""The loopback server: a listener, a thread a connection, and plans carried out on a socket.

A client that leaves, invalid HTTP and a shutdown are ordinary ends without a traceback. A time-out
is silence until the client gives up. `Raise("connect")` and `Raise("dns")` become a reset: the
connection is already open. After `keep-alive: timeout=0` the server closes, though the client keeps
the connection.
"""

from __future__ import annotations

import contextlib
import resource
import selectors
import socket
import threading
from collections.abc import Callable
from typing import Protocol

from harness.clock import real_monotonic, real_sleep
from harness.core.values.errors import InputError, MachineLacks
from harness.core.values.plans import Close, Head, Kill, Plan, Raise, Send, Step, Wait
from harness.processes.machine import few_files, lack_of
from harness.processes.thread_times import BackgroundThread
from harness.transports.access_check import new_token
from harness.transports.dispatcher import Dispatcher, at_once, is_stop
from harness.transports.http_answers import error_bytes
from harness.transports.http_connection import (
    LAST_CHUNK,
    BodyBudget,
    Connection,
    Hangup,
    Request,
    chunk,
    head_bytes,
    whole_answer,
)
from harness.transports.http_exchange import SILENT, HttpExchange, exchange_of
from harness.transports.request_heads import RefusedRequest
from harness.transports.seam_endpoints import Endpoints

HOST = "127.0.0.1"
_BACKLOG = 1024
_JOIN_S = 5.0
_CONNECTIONS_MOST = 2048
_ACCEPT_AGAIN_S = 0.05


class Server:
    """Has `serve` carry each connection to its end, between `start` and `close`.

    `join_s` is how long `close` waits for all that have not come to it. `token` stands in its URL.
    `lack` is what the machine lacked for a connection.
    """

    def __init__(
        self, serve: Callable[[Connection], None], port: int, *, join_s: float = _JOIN_S
    ) -> None:
        self._carry, self._port, self._join_s = serve, port, join_s
        self.token = new_token()
        self._closing, self._alarm = socket.socketpair()
        self._leaving, self._farewell = socket.socketpair()
        self._bodies, self._connections_most = BodyBudget(), connections_most()
        self.lack: MachineLacks | None = None
        self._lock = threading.Lock()
        self._serving: dict[threading.Thread, socket.socket] = {}
        self._acceptor: threading.Thread | None = None

    def start(self) -> str:
        """Bind, listen and serve from now on; the base URL.

        Raises InputError when the port is taken, and MachineLacks when none can be had.
        """
        try:
            listener = socket.create_server((HOST, self._port), backlog=_BACKLOG)
        except OSError as error:
            if self._port == 0:
                raise lack_of(error, ours=True) or error from None
            what = f"cannot listen on {HOST}:{self._port} ({error.strerror})"
            raise InputError(f"{what}; give another port, or 0 for a free one", "port") from None
        self._acceptor = BackgroundThread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()
        return f"http://{HOST}:{listener.getsockname()[1]}/{self.token}"

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self._alarm.close()
        if self._acceptor is not None:
            self._acceptor.join(_JOIN_S)
        self._end_connections(self._leaving, self._farewell)
        self._closing.close()

    def hang_up(self) -> None:
        """End every connection and wait for its thread; the server takes new ones."""
        leaving, farewell = self._leaving, self._farewell
        # A connection that comes meanwhile waits on the new pair, and is not of those that end.
        self._leaving, self._farewell = socket.socketpair()
        self._end_connections(leaving, farewell)

    def _end_connections(self, leaving: socket.socket, farewell: socket.socket) -> None:
        until_s = real_monotonic() + self._join_s
        farewell.close()
        with self._lock:
            serving = list(self._serving.items())
            for _, sock in serving:
                # A thread that waits for a request wakes up; one that writes can finish its answer.
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RD)
        for thread, _ in serving:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until_s - real_monotonic()))
        for _, sock in serving:  # a client that reads nothing blocks the thread that writes to it
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        leaving.close()

    def _accept(self, listener: socket.socket) -> None:
        """Accept connections until the alarm socket closes, which wakes every listener."""
        with listener, selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(self._closing, selectors.EVENT_READ)
            while all(key.fileobj is listener for key, _ in selector.select()):
                try:
                    self._spawn(listener.accept()[0])
                except OSError as error:  # no file descriptor is left: wait until one is
                    self.lack = self.lack or lack_of(error, ours=True)
                    real_sleep(_ACCEPT_AGAIN_S)

    def _spawn(self, sock: socket.socket) -> None:
        if len(self._serving) >= self._connections_most:
            if self._connections_most < _CONNECTIONS_MOST:
                self.lack = few_files(self._connections_most)
            return _turn_away(sock, self._connections_most)
        thread = BackgroundThread(target=self._serve, args=(sock,), daemon=True)
        with self._lock:
            self._serving[thread] = sock
        try:
            thread.start()
        except MachineLacks as lack:
            self.lack = lack
            with self._lock:
                del self._serving[thread]
            _turn_away(sock, len(self._serving))

    def _serve(self, sock: socket.socket) -> None:
        try:
            self._carry(Connection(sock, self._leaving, self._bodies, self.token))
        finally:
            with self._lock:
                del self._serving[threading.current_thread()]
                sock.close()


def connections_most() -> int:
    """How many connections a server holds: half of the files that the process may open."""
    return min(_CONNECTIONS_MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


def _turn_away(sock: socket.socket, most: int) -> None:
    """Say that there are too many connections, without waiting for the client."""
    with contextlib.closing(sock), contextlib.suppress(OSError):
        sock.settimeout(0)
        sock.send(error_bytes(503, f"{most} connections are open, and more are not served"))
        sock.shutdown(socket.SHUT_WR)


def carry(
    connection: Connection,
    answer: Callable[[Request], object],
    refused: Callable[[RefusedRequest], bytes],
) -> None:
    """Carry a connection to its end: by the client, the server, or an `answer` that is true.

    `refused` gives what is said of a request that no seam gets.
    """
    reset = False
    try:
        for request in connection.requests():
            if answer(request) or not request.reusable:
                break
    except RefusedRequest as error:
        with contextlib.suppress(Hangup):
            connection.write(refused(error))
    except Hangup as hangup:
        reset = hangup.reset
    connection.close(reset=reset)


class Route(Protocol):
    """Finds the run of a request."""

    def find(self, request: Request) -> Endpoints:
        """The seams of the run that a request is for. Raises RefusedRequest."""

    def refused(self, error: RefusedRequest) -> None:
        """Record a refused request in the history of its run, if there is one."""


def responder(route: Route) -> Callable[[Connection], None]:
    """What serves a connection with the runs that `route` finds."""
    return lambda connection: Responder(route, connection).serve()


class Responder:
    """Serves one connection to its end; each request goes to the run that `route` finds for it."""

    def __init__(self, route: Route, connection: Connection) -> None:
        self._route, self._connection = route, connection
        self._dispatcher: Dispatcher

    def serve(self) -> None:
        """Answer requests until the client leaves, the plan ends the connection, or the server."""
        carry(self._connection, self._respond, self._refused)

    def _respond(self, request: Request) -> bool:
        endpoints = self._route.find(request)
        self._dispatcher = endpoints.dispatcher
        with self._dispatcher.answering():
            plan = endpoints.plan(request, self._connection.pause)
            if (known := at_once(plan)) is not None:
                self._connection.write(whole_answer(*known, reusable=request.reusable))
            else:
                self._answer(exchange_of(plan), request)
        return _ends_connection(plan)

    def _refused(self, error: RefusedRequest) -> bytes:
        self._route.refused(error)
        return error_bytes(error.status, str(error))

    def _answer(self, answer: HttpExchange, request: Request) -> None:
        """Carry out an exchange. Raises Hangup where the connection ends with it."""
        for step in answer.before:
            self._step(step)
        body, head = answer.whole, answer.head
        if head is None:
            self._as_it_stands(answer)
            raise Hangup
        if body is not None and answer.declared is None and not answer.chunked:
            self._connection.write(whole_answer(head, body, reusable=request.reusable))
            return
        if request.method == "HEAD":
            raise Hangup
        self._pieces(answer, head, request)

    def _as_it_stands(self, answer: HttpExchange) -> None:
        """Send bytes that bring their own framing, or none."""
        for part in answer.parts:
            if isinstance(part, bytes):
                self._connection.write(part)
            else:
                self._step(part)

    def _pieces(self, answer: HttpExchange, head: Head, request: Request) -> None:
        """Send a body in pieces, in the frame that its head announces or its end needs."""
        closes = Close() in answer.parts
        chunked = answer.chunked or (answer.declared is None and request.chunks and not closes)
        framing = {} if answer.chunked or not chunked else {"transfer_encoding": "chunked"}
        framed = chunked or answer.declared is not None
        if not framed or not request.reusable:
            framing["connection"] = "close"
        pending = head_bytes(head, **framing)
        for part in answer.parts:
            if isinstance(part, bytes):
                self._connection.write(pending + (chunk(part) if chunked else part))
                pending = b""
            else:
                self._step(part)
        if chunked and not answer.cut:
            pending += LAST_CHUNK
        self._connection.write(pending)
        if not framed or answer.short or closes:
            raise Hangup

    def _step(self, step: Step) -> None:
        match step:
            case Wait(ms):
                self._connection.pause(ms / 1000)
            case Close(reset=True):
                raise Hangup(reset=True)
            case Raise(error) if error in SILENT:
                self._connection.pause(None)
            case Raise() if is_stop(step):
                self._stop(step.message)
            case Raise():
                raise Hangup(reset=True)
            case _:
                self._dispatcher.carry_out(step)
                if isinstance(step, Kill):
                    raise Hangup(reset=True)

    def _stop(self, text: str) -> None:
        """Report that the run is over, and have the target ended from outside."""
        self._connection.write(error_bytes(503, text.removeprefix("loop-harness: ")))
        self._dispatcher.on_stop()
        raise Hangup


def _ends_connection(plan: Plan) -> bool:
    """Return whether the answer's head rules out an idle connection."""
    first = plan[0] if plan else None
    head = first.head if isinstance(first, Send) else None
    return head is not None and head.headers.get("keep-alive") == "timeout=0"
