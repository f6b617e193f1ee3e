"""A run behind a transport, for tests: a scenario as values, faults as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2

from harness.clock import Clock, RealClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.arming import ArmedFault
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.plans import Plan
from harness.providers.anthropic.provider import AnthropicProvider
from harness.transports.dispatcher import Dispatcher
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback

Bend = Callable[[Plan], Plan]
REQUEST: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hi"}],
}
HELLO = Turn(say="hello", times="forever")


def transition(
    *turns: Turn, bend: Bend | None = None, on: str = "model", **fields: Any
) -> Transition:
    """A run of these turns; `bend` changes every plan of the seam `on`."""
    spec = FaultSpec(kind="test.bend", on=on, often="forever")
    faults = [ArmedFault(spec, lambda moment, plan: bend(plan), "bytes")] if bend else []
    scenario = Scenario(name="transports", script=turns or (HELLO,), **fields)
    script = TurnScript(turns or (HELLO,), Draws(scenario.seed))
    return Transition(scenario, AnthropicProvider(), script, History(), faults=faults)


def in_process(
    *turns: Turn, clock: Clock | None = None, bend: Bend | None = None, **fields: Any
) -> Dispatcher:
    """A transport of this process."""
    return Dispatcher(transition(*turns, bend=bend, **fields), clock or RealClock())


def client(dispatcher: Dispatcher) -> httpx2.Client:
    """A plain client on the in-process transport."""
    transport: Any = HttpxTransport(dispatcher)
    return httpx2.Client(transport=transport, base_url="http://model.invalid")


@contextmanager
def loopback(run: Transition) -> Iterator[Loopback]:
    """The run on a socket."""
    with Loopback(run, RealClock()) as server:
        yield server


def met(call: Callable[[], httpx2.Response]) -> tuple[int, bytes] | str:
    """What a client meets: status and body, or the name of the error."""
    try:
        response = call()
    except httpx2.TransportError as error:
        return type(error).__name__
    return response.status_code, response.content


def keys(history: History, kind: str) -> Sequence[str]:
    """The keys of the history's events of a kind."""
    return [e.key for e in history.events if type(e).__name__ == kind]  # type: ignore[union-attr]
