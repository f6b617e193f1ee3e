"""A run of the wire behind both transports, asked by the official client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.clock import RealClock
from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.scenario.scenario import Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.arming import ArmedFault
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.providers.anthropic.provider import AnthropicProvider
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback
from harness.transports.sdk_clients import sdk_client


def run(
    *turns: Turn, faults: tuple[ArmedFault, ...] = (), limits: Limits | None = None, **fields: Any
) -> Transition:
    """A run whose script says these turns."""
    scenario = Scenario(name="wire", script=turns, limits=limits or Limits(), **fields)
    script = TurnScript(turns, Draws(0))
    return Transition(scenario, AnthropicProvider(), script, History(), faults=faults)


@contextmanager
def in_process(transition: Transition) -> Iterator[Any]:
    """The client on the in-process transport."""
    transport = HttpxTransport(Dispatcher(transition, RealClock()))
    with sdk_client("anthropic", transport, asynchronous=False, max_retries=0) as client:
        yield client


@contextmanager
def loopback(transition: Transition) -> Iterator[Any]:
    """The client on a socket."""
    with Loopback(transition, RealClock()) as server:
        where = {"base_url": server.urls.model, "max_retries": 0}
        with sdk_client("anthropic", None, asynchronous=False, **where) as client:
            yield client


def called(transition: Transition) -> list[Called]:
    """The calls on record."""
    return [event for event in transition.history.events if isinstance(event, Called)]
