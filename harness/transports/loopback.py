"""The loopback transport: an HTTP server for agents in any language, in real time.

`Loopbacks` serves each run below its own prefix (`/r/NAME`), so hundreds need one port.
"""

from __future__ import annotations

from typing import Self

import msgspec

from harness.clock import Clock
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError
from harness.transports.dispatcher import Dispatcher
from harness.transports.http_connection import Refused, Request
from harness.transports.http_server import Server, responder
from harness.transports.seam_endpoints import INBOX, MCP, OUTBOX, TOOLS, Endpoints

RUNS = "/r/"


class Urls(msgspec.Struct, frozen=True):
    """Where the seams are. An SDK for OpenAI takes `model` with `/v1` behind it."""

    model: str
    inbox: str
    outbox: str
    tools: str
    mcp: str


def urls_below(base: str) -> Urls:
    """The seams of a run whose paths begin with `base`."""
    return Urls(base, base + INBOX, base + OUTBOX, base + TOOLS, base + MCP)


class Loopback:
    """The server of one run, between `start` and `close`; a context manager does both.

    `urls` are where it listens; `model_url` is where the model is, when it is not behind this
    server. `port` 0 takes a free one. `start` raises InputError when a port is taken.
    """

    urls: Urls

    def __init__(
        self, transition: Transition, clock: Clock, *, port: int = 0, model_url: str = ""
    ) -> None:
        self._model_url = model_url
        self.dispatcher = Dispatcher(transition, clock)
        endpoints = Endpoints(self.dispatcher)
        self._server = Server(responder(lambda request: (endpoints, request)), port)

    def start(self) -> Urls:
        """Bind, listen and serve from now on."""
        self.urls = urls_below(self._server.start())
        if self._model_url:
            self.urls = msgspec.structs.replace(self.urls, model=self._model_url)
        return self.urls

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self._server.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Loopbacks:
    """One server for many runs; a context manager. Runs come and go while it serves."""

    def __init__(self, *, port: int = 0) -> None:
        self._runs: dict[str, Endpoints] = {}
        self._server = Server(responder(self._route), port)

    def add(self, name: str, transition: Transition, clock: Clock) -> Urls:
        """Serve a run below `/r/NAME`, where a name is one segment of a path.

        Raises InputError for a name that is taken, or is no segment.
        """
        if not name or "/" in name or name in self._runs:
            raise InputError("a run on a shared server needs a name of its own, without a /", name)
        self._runs[name] = Endpoints(Dispatcher(transition, clock))
        return urls_below(f"{self._base}{RUNS}{name}")

    def remove(self, name: str) -> None:
        """Serve a run no longer: its agent gets 404."""
        del self._runs[name]

    def _route(self, request: Request) -> tuple[Endpoints, Request]:
        if request.path.startswith(RUNS):
            name, slash, rest = request.path[len(RUNS) :].partition("/")
            if name in self._runs:
                return self._runs[name], msgspec.structs.replace(request, path=slash + rest)
        raise Refused(404, f"no run at {request.path[:200]}; a run has the prefix {RUNS}NAME")

    def __enter__(self) -> Self:
        self._base = self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.close()
