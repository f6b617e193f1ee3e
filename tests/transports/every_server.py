"""Every kind of server that the harness opens, each with a request that it answers well."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple
from unittest.mock import patch
from urllib.parse import urlsplit

from harness.clock import RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem, Limits, ToolScript, ToolTurn
from harness.core.transition.transition import Transition
from harness.runner.session_url import SessionUrl
from harness.targets import process_target, resolve
from harness.targets.process_target import LastingProgram
from harness.transports.dispatcher import Dispatcher
from harness.transports.loopback import Loopback, ModelRoute, serving
from tests.transports.recording import HELLO, proxy
from tests.transports.upstreams import answering, whole
from tests.transports.world import REQUEST, transition

TOOLS = {"say": ToolScript(script=(ToolTurn(ok="yes", times="forever"),))}
MCP_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MCP_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}


class OpenServer(NamedTuple):
    """A server and a good request: `history` is that of its run, if it has one.

    `asked` holds the bodies that a provider behind it was sent.
    """

    port: int
    method: str
    path: str
    body: bytes
    headers: dict[str, str]
    history: History | None
    asked: list[bytes]
    class_name: str

    @property
    def behind_token(self) -> str:
        """The path as the server's run sees it, and as a program guesses it that has no token."""
        return self.path[1:].partition("/")[1] + self.path[1:].partition("/")[2]

    def request(self, **headers: str) -> bytes:
        """The good request as bytes, with other headers where given; "" leaves one out."""
        named = {"host": f"127.0.0.1:{self.port}", "connection": "close", **self.headers}
        named |= {"content-length": str(len(self.body)), **headers}
        lines = [f"{name}: {value}" for name, value in named.items() if value]
        first = f"{self.method} {self.path} HTTP/1.1"
        return "\r\n".join([first, *lines, "", ""]).encode("latin-1") + self.body


def answer(server: OpenServer, data: bytes) -> bytes:
    """All that a server says to these bytes until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
        sock.sendall(data)
        return b"".join(iter(lambda: sock.recv(1 << 16), b""))


def run() -> Transition:
    """A run that has begun, with endless answers on each seam."""
    inbox = tuple(InboxItem(text=f"message {n}") for n in range(500))
    made = transition(tools=TOOLS, inbox=inbox, limits=Limits.unreached())
    made.history.started(run="servers", scenario="servers")
    return made


SEAMS: dict[str, tuple[str, str, object, dict[str, str]]] = {
    "model": ("POST", "/v1/messages", REQUEST, {}),
    "tools": ("POST", "/harness/tools/say", {"id": "t1", "input": {}}, {}),
    "tool list": ("GET", "/harness/tools", None, {}),
    "inbox": ("GET", "/harness/inbox", None, {}),
    "cancelled": ("GET", "/harness/inbox/cancelled", None, {}),
    "outbox": ("POST", "/harness/outbox", {"text": "done"}, {}),
    "mcp": ("POST", "/harness/mcp", MCP_LIST, MCP_HEADERS),
}


def _body(value: object) -> bytes:
    return json.dumps(value).encode() if value is not None else b""


def _loopback(seam: str) -> Callable[[], AbstractContextManager[OpenServer]]:
    @contextmanager
    def opened() -> Iterator[OpenServer]:
        method, path, value, headers = SEAMS[seam]
        with Loopback(made := run(), RealClock()) as server:
            url, body = urlsplit(server.urls.model), _body(value)
            path = url.path + path
            yield OpenServer(
                url.port or 0, method, path, body, headers, made.history, [], "Loopback"
            )

    return opened


@contextmanager
def _fake_model() -> Iterator[OpenServer]:
    """What `fake_model.serve()` opens."""
    dispatcher = Dispatcher(run(), RealClock())
    with serving(ModelRoute(lambda method, path: dispatcher, RealClock())) as base:
        url = urlsplit(base)
        path, body = f"{url.path}/v1/messages", _body(REQUEST)
        yield OpenServer(url.port or 0, "POST", path, body, {}, None, [], "serving")


@contextmanager
def _session_url() -> Iterator[OpenServer]:
    """What `fake_model.serve()` opens in a session of pytest."""
    dispatcher, session = Dispatcher(run(), RealClock()), SessionUrl()
    route = ModelRoute(lambda method, path: dispatcher, RealClock())
    try:
        with session.lent(route, "test_it") as base:
            url = urlsplit(base or "")
            path, body = f"{url.path}/v1/messages", _body(REQUEST)
            yield OpenServer(url.port or 0, "POST", path, body, {}, None, [], "SessionUrl")
    finally:
        session.close()


@contextmanager
def _recording() -> Iterator[OpenServer]:
    asked: list[bytes] = []

    def answer(body: bytes) -> bytes:
        asked.append(body)
        return whole(HELLO)

    with answering(answer) as provider, proxy(provider, key="the-real-key") as (server, _):
        url = urlsplit(server.url)
        path, body, key = (
            f"{url.path}/v1/messages",
            _body(REQUEST),
            {"x-api-key": "sk-harness-dummy"},
        )
        yield OpenServer(url.port or 0, "POST", path, body, key, None, asked, "RecordingProxy")


@contextmanager
def _lasting_program() -> Iterator[OpenServer]:
    """The URL that gives a program its runs; no run waits, which it says at once."""
    target, names = resolve("process:sleep 60?runs=many"), {"PATH": os.environ["PATH"], "LANG": "C"}
    with patch.object(process_target, "WAIT_S", 0.01):
        program = LastingProgram(target, names)
        try:
            url = urlsplit(program.url)
            yield OpenServer(url.port or 0, "GET", url.path, b"", {}, None, [], "LastingProgram")
        finally:
            program.end()


SERVERS: dict[str, Callable[[], AbstractContextManager[OpenServer]]] = {
    **{seam: _loopback(seam) for seam in SEAMS},
    "fake model": _fake_model,
    "fake model of a session": _session_url,
    "recording": _recording,
    "runs": _lasting_program,
}
