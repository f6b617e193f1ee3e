"""One URL for the fake models of a session of tests; one of them answers at a time.

A client that is made when a module is imported keeps its URL for the whole process. With one server
for each test, such a client would ask a dead port from the second test on.

One URL has a danger: work that outlives its test asks the model of the next one. So the connections
of a test end with it, and a request between two tests is refused. So is the retry of a request that
was cut off with its test. Any other retry may be of the present test. An asynchronous client at
module level first tries a connection of a closed loop, and only its second attempt comes here.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256

from harness.clock import real_monotonic, real_sleep
from harness.transports.http_connection import Request
from harness.transports.http_server import Server, responder
from harness.transports.loopback import ModelRoute
from harness.transports.request_heads import RefusedRequest
from harness.transports.seam_endpoints import Endpoints

_SETTLES_S = 1.0
"""A client has its last byte a moment before the server counts the answer as given."""

_RETRIES = "x-stainless-retry-count"
"""The SDKs of Anthropic and OpenAI number their attempts in this header, from 0 on."""

UNDER_WAY = (
    "{number} of {test} had no whole answer when it ended, and was cut off; let the test wait for "
    "the thread or task that asks, or close its client"
)


class _Late(RefusedRequest):
    """A request that no test of this moment made."""


class SessionUrl:
    """A server that starts with the first test, and the fake model that answers behind it.

    `late` are the refusals of requests that the present test did not make, in order.
    """

    def __init__(self) -> None:
        self._server = Server(responder(self), 0)
        self._lock = threading.Lock()
        self._url, self._last, self._test = "", "", ""
        self._route: ModelRoute | None = None
        self._asked: set[bytes] = set()
        self._cut: set[bytes] = set()
        self.late: list[str] = []

    @property
    def url(self) -> str:
        """The URL, the same one until `close`."""
        with self._lock:
            self._url = self._url or self._server.start()
            return self._url

    @contextmanager
    def lent(self, route: ModelRoute, test: str) -> Iterator[str | None]:
        """In the block, the URL leads to a route; None while it leads to another one.

        Warns of requests that are under way at the end.
        """
        url = self.url
        with self._lock:
            is_free = self._route is None
            if is_free:
                self._route, self._test, self._asked = route, test, set()
        if not is_free:
            yield None
            return
        try:
            yield url
        finally:
            self._end(route, test)

    def _end(self, route: ModelRoute, test: str) -> None:
        with self._lock:
            self._route, self._last = None, test
        number = _settled(lambda: route.under_way)
        if number:
            self._cut |= self._asked
        self._server.hang_up()
        if number:
            requests = "1 request" if number == 1 else f"{number} requests"
            warnings.warn(UNDER_WAY.format(number=requests, test=test), stacklevel=4)

    def find(self, request: Request) -> Endpoints:
        """The model of the present test. Raises RefusedRequest without one, or for a retry."""
        with self._lock:
            route, digest = self._route, sha256(request.body).digest()
            if route is None:
                raise _Late(410, self._nobody(), f"{request.method} {request.path}")
            retries = request.headers.get(_RETRIES, "0")
            if retries != "0" and digest in self._cut - self._asked:
                raise _Late(410, self._foreign(), f"{request.method} {request.path}")
            self._asked.add(digest)
        return route.find(request)

    def _nobody(self) -> str:
        after = f"{self._last} is over" if self._last else "no test has begun"
        return f"no test serves its fake_model now: {after}; ask inside `with fake_model.serve()`"

    def _foreign(self) -> str:
        whose = f", such as {self._last}" if self._last else ""
        what = f"this retries a request that was cut off with its test{whose}"
        return f"{what}; {self._test} never made it"

    def refused(self, error: RefusedRequest) -> None:
        """Keep what came too late for the end of the session; the rest is of the present test."""
        route = self._route
        if isinstance(error, _Late):
            self.late.append(f"{error.request}: {error}")
        elif route is not None:
            route.refused(error)

    def close(self) -> None:
        """Stop listening."""
        self._server.close()


def _settled(under_way: Callable[[], int]) -> int:
    """Return how many answers are under way, once there is none or the time is over."""
    until_s = real_monotonic() + _SETTLES_S
    while (number := under_way()) and real_monotonic() < until_s:
        real_sleep(0.005)
    return number
