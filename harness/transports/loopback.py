"""The loopback transport: an HTTP server for agents in any language, in real time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import msgspec

from harness.clock import Clock
from harness.core.transition.transition import Transition
from harness.core.values.errors import InputError, MachineLacks
from harness.core.values.plans import Plan, Step
from harness.transports.dispatcher import Dispatcher
from harness.transports.http_connection import Request
from harness.transports.http_server import Server, responder
from harness.transports.request_heads import RefusedRequest
from harness.transports.seam_endpoints import APPROVALS, INBOX, MCP, OUTBOX, TOOLS, Endpoints


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
        self._server = Server(responder(self), port)

    def start(self) -> Urls:
        """Bind, listen and serve from now on."""
        self.urls = urls_below(self._server.start())
        if self._model_url:
            self.urls = msgspec.structs.replace(self.urls, model=self._model_url)
        return self.urls

    def find(self, request: Request) -> Endpoints:
        """The endpoints for a request: all are for one run."""
        return self.endpoints

    def refused(self, error: RefusedRequest) -> None:
        """Record a refused request."""
        self.dispatcher.refused(error.status, str(error), error.request)

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

    def model(self, method: str, path: str, *rest: Any, **more: Any) -> Plan:
        """The plan for a request, as `Dispatcher.model` gives it."""
        self._carrier = self._choose(method, path)
        return self._carrier.model(method, path, *rest, **more)

    @property
    def under_way(self) -> int:
        """How many answers are on their way to a client."""
        return 0 if self._carrier is None else self._carrier.under_way

    def carry_out(self, step: Step) -> None:
        """Carry out a step of a plan that says nothing to the agent."""
        assert self._carrier is not None
        self._carrier.carry_out(step)

    def find(self, request: Request) -> Endpoints:
        """The endpoints for a request of a server. Raises RefusedRequest for a script that does
        not fit the provider of the request, which only the first one tells."""
        try:
            self._carrier = self._choose(request.method, request.path)
        except InputError as error:
            where = f"{request.method} {request.path}"
            raise RefusedRequest(400, f"loop-harness: {error}", where) from None
        return Endpoints(self._carrier)

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
