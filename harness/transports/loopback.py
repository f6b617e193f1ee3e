"""The loopback transport: an HTTP server for agents in any language, in real time.

`Loopbacks` serves each run below its own prefix (`/r/NAME`), so hundreds need one port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Self

import msgspec

from harness.clock import Clock
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError, MachineLacks
from harness.core.values.plans import Plan, Step
from harness.transports.access_check import told
from harness.transports.dispatcher import Dispatcher
from harness.transports.http_connection import Request
from harness.transports.http_server import Server, responder
from harness.transports.request_heads import RefusedRequest
from harness.transports.seam_endpoints import APPROVALS, INBOX, MCP, OUTBOX, TOOLS, Endpoints

RUNS = "/r/"


class Urls(msgspec.Struct, frozen=True):
    """Where the seams are. An SDK for OpenAI takes `model` with `/v1` after it."""

    model: str
    inbox: str
    outbox: str
    tools: str
    mcp: str
    approvals: str


def urls_below(base: str) -> Urls:
    """The seams of a run whose paths begin with `base`."""
    return Urls(base, base + INBOX, base + OUTBOX, base + TOOLS, base + MCP, base + APPROVALS)


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
        self.endpoints = Endpoints(self.dispatcher)
        self._server = Server(responder(_OneRun(self.endpoints)), port)

    def start(self) -> Urls:
        """Bind, listen and serve from now on."""
        self.urls = urls_below(self._server.start())
        if self._model_url:
            self.urls = msgspec.structs.replace(self.urls, model=self._model_url)
        return self.urls

    @property
    def lack(self) -> MachineLacks | None:
        """What the machine lacked for a connection."""
        return self._server.lack

    @property
    def serves_model(self) -> bool:
        """Whether the model is behind this server."""
        return not self._model_url

    def close(self) -> None:
        """Stop listening, end every connection and wait for its thread."""
        self.dispatcher.is_over = True
        self.endpoints.close()
        self._server.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _OneRun:
    """All requests of a server are for one run."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    def find(self, request: Request) -> tuple[Endpoints, Request]:
        return self._endpoints, request

    def refused(self, error: RefusedRequest) -> None:
        self._endpoints.dispatcher.refused(error.status, str(error), error.request)


class Loopbacks:
    """One server for many runs; a context manager. Runs come and go while it serves."""

    def __init__(self, *, port: int = 0) -> None:
        self._runs: dict[str, Endpoints] = {}
        self._server = Server(responder(_RunsByPrefix(self._runs)), port)

    def add(self, name: str, transition: Transition, clock: Clock) -> Urls:
        """Serve a run below `/r/NAME`, where a name is one segment of a path.

        Raises InputError for a name that is taken, or is not a segment.
        """
        if not name or "/" in name or name in self._runs:
            raise InputError("a run on a shared server needs its own name, without a /", name)
        self._runs[name] = Endpoints(Dispatcher(transition, clock))
        return urls_below(f"{self._base}{RUNS}{name}")

    def remove(self, name: str) -> None:
        """Serve a run no longer: its agent gets 404."""
        endpoints = self._runs.pop(name)
        endpoints.dispatcher.is_over = True
        endpoints.close()

    def __enter__(self) -> Self:
        self._base = self._server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.close()


class _RunsByPrefix:
    """A request is for the run whose prefix its path has."""

    def __init__(self, runs: Mapping[str, Endpoints]) -> None:
        self._runs = runs

    def find(self, request: Request) -> tuple[Endpoints, Request]:
        endpoints, path = self._run(request.path)
        if endpoints is None:
            text = f"no run at {told(request.path)}; a run has the prefix {RUNS}NAME"
            raise RefusedRequest(404, text)
        return endpoints, msgspec.structs.replace(request, path=path)

    def _run(self, path: str) -> tuple[Endpoints | None, str]:
        name, slash, rest = path.removeprefix(RUNS).partition("/")
        return self._runs.get(name) if path.startswith(RUNS) else None, slash + rest

    def refused(self, error: RefusedRequest) -> None:
        endpoints, path = self._run(error.request.partition(" ")[2])
        if endpoints is not None:
            method = error.request.partition(" ")[0]
            endpoints.dispatcher.refused(error.status, str(error), f"{method} {path}")


Choose = Callable[[str, str], Dispatcher]
"""The dispatcher for a request's method and path."""


class ModelRoute:
    """A dispatcher of model requests alone, which `choose` finds for each; also a server's route.

    For a test without a scenario: its client asks at an address, which says which API it speaks.
    It has the members that `HttpxTransport` and `Server` use.
    """

    def __init__(self, choose: Choose, clock: Clock) -> None:
        self._choose, self.clock = choose, clock
        self._carrier: Dispatcher | None = None

    def model(self, method: str, path: str, *rest: object) -> Plan:
        """The plan for a request, as `Dispatcher.model` gives it."""
        self._carrier = self._choose(method, path)
        return self._carrier.model(method, path, *rest)  # type: ignore[arg-type]

    def carry_out(self, step: Step) -> None:
        """Carry out a step of a plan that says nothing to the agent."""
        assert self._carrier is not None
        self._carrier.carry_out(step)

    def find(self, request: Request) -> tuple[Endpoints, Request]:
        """The endpoints for a request of a server."""
        return Endpoints(self._choose(request.method, request.path)), request

    def refused(self, error: RefusedRequest) -> None:
        """Record a refused request, if the run has begun."""
        if self._carrier is not None:
            self._carrier.refused(error.status, str(error), error.request)


@contextmanager
def serving(route: ModelRoute) -> Iterator[str]:
    """The base URL of a loopback server for a route; in the block it serves."""
    server = Server(responder(route), 0)
    url = server.start()
    try:
        yield url
    finally:
        server.close()
