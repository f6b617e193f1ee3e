"""The same fault gives a client the same through every transport, and leaves one canonical history.

The clients are plain ones of both HTTP libraries in process, and one over loopback. What a socket
cannot do is listed with what is met in its place.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from harness.clock import VirtualClock
from harness.core.history.history import History, canonical
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.faults import arm, faults
from harness.providers import by_name
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from tests.transports.world import loopback

pytestmark = pytest.mark.real

TIMEOUT_S = 0.25
SAYS = Turn(say="Hello, wörld", use="t", input={"a": "b"}, times="forever")

QUICK: dict[str, dict[str, Any]] = {
    "transport.latency": {"wait_s": 0.01},
    "transport.trickle": {"for_s": 0.05},
    "transport.slow_headers": {"for_s": 0.05},
    "transport.connect_timeout": {"wait_s": 0.01},
    "transport.request_never_read": {"wait_s": 0.01},
    "transport.stalled_stream_with_pings": {"every_s": 0.01, "for_s": 0.03},
    "transport.informational_storm": {"answers": 5, "for_s": 0.01},
}
"""Settings with which a fault is over soon in real time."""

ON_A_SOCKET = {
    "transport.refused": "ReadError",
    "transport.name_not_found": "ReadError",
    "transport.connect_timeout": "ReadTimeout",
    "transport.request_never_read": "ReadTimeout",
}
"""A connection that was accepted, and a request that was read, are past these: what is met."""

KINDS = [
    kind
    for kind, fault in faults().items()
    if kind.partition(".")[0] in ("transport", "http")
    if not fault.wires or "anthropic" in fault.wires
]


def run_of(kind: str, **knobs: Any) -> Transition:
    wire = by_name("anthropic")
    spec = FaultSpec(kind=kind, settings=QUICK.get(kind, {}), **knobs)
    armed = arm(spec, wire="anthropic", refusals=wire.refusals())
    scenario = Scenario(name="transports", stream=True, script=(SAYS,), faults=(spec,))
    return Transition(scenario, wire, TurnScript((SAYS,), Draws(0)), History(), faults=[armed])


def ask(http: Any, url: str, stream: bool) -> str:
    """What the first request meets: status and body, or the name of the error."""
    request = {
        "model": "m",
        "max_tokens": 100,
        "stream": stream,
        "messages": [{"role": "user", "content": "hi"}],
    }
    headers = {"x-stainless-read-timeout": f"{TIMEOUT_S}"}
    try:
        answer = http.post(url, json=request, headers=headers, timeout=TIMEOUT_S)
        return f"{answer.status_code} {answer.content!r}"
    except (httpx2.HTTPError, httpx.HTTPError) as error:
        return type(error).__name__


def in_process(library: ModuleType, run: Transition, stream: bool) -> str:
    transport = HttpxTransport(Dispatcher(run, VirtualClock()))
    with library.Client(transport=transport, follow_redirects=True) as http:
        return ask(http, "http://model.invalid/v1/messages", stream)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_the_same_through_every_transport(kind: str, stream: bool) -> None:
    runs = [run_of(kind) for _ in range(3)]
    met = in_process(httpx2, runs[0], stream)
    assert in_process(httpx, runs[1], stream) == met
    with loopback(runs[2]) as server, httpx2.Client(follow_redirects=True) as http:
        outside = ask(http, f"{server.urls.model}/v1/messages", stream)
    assert outside == ON_A_SOCKET.get(kind, met)
    assert len({canonical(run.history) for run in runs}) == 1


def test_a_redirect_for_ever_is_a_loop_that_clients_end() -> None:
    run = run_of("transport.redirect", often="forever")
    assert in_process(httpx2, run, False) == "TooManyRedirects"
    assert run.history.past.calls["model"] == 21
