"""One model call of the official SDK, and a run of ours that answers it the same way each time.

The measures share them: the same messages, and the same bytes of the answer from each sender.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import msgspec

from harness.clock import VirtualClock
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Limits, Scenario, Turn
from harness.core.scenario.script import TurnScript
from harness.core.transition.transition import Transition
from harness.core.values.draws import Draws
from harness.core.values.plans import Head, Send
from harness.faults import arm
from harness.providers.anthropic.provider import AnthropicProvider
from harness.runner.disk_log import DiskLog
from harness.transports.dispatcher import Dispatcher

CALLS = 100
TEXT = "The quick brown fox jumps over the lazy dog. " * 4
TURN = Turn(say=TEXT, times="forever")

Messages = list[dict[str, Any]]
Call = Callable[[Messages], None]


def transition(*faults: FaultSpec) -> Transition:
    """A run whose script gives one answer to each call."""
    scenario = Scenario(name="bench", script=(TURN,), limits=Limits.unreached())
    script = TurnScript((TURN,), Draws(0))
    armed = tuple(map(arm, faults))
    return Transition(scenario, AnthropicProvider(), script, History(log=DiskLog()), faults=armed)


def door(*faults: FaultSpec) -> Dispatcher:
    """A door to such a run, on the clock that runs in process have."""
    return Dispatcher(transition(*faults), VirtualClock())


def canned(stream: bool) -> tuple[Head, bytes]:
    """Head and body of the answer that the door gives to a request."""
    request = {"model": "m", "max_tokens": 1000, "messages": conversation(1), "stream": stream}
    plan = door().model("POST", "/v1/messages", {}, msgspec.json.encode(request))
    sends = [step for step in plan if isinstance(step, Send)]
    assert sends[0].head is not None
    return sends[0].head, b"".join(send.data for send in sends)


def conversation(length: int, last: int = 0) -> Messages:
    """`length` messages, the user's first; `last` tells the last one from that of other calls."""
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{n}: {TEXT}"}
        for n in range(length - 1)
    ] + [{"role": "user", "content": f"{last}: {TEXT}"}]


def same_length(length: int) -> Callable[[int], Iterator[Messages]]:
    """Requests of one length that differ in their last message."""
    return lambda calls: (conversation(length, n) for n in range(calls))


def caller(stream: bool, **settings: Any) -> Call:
    """One model call, as an agent makes it."""
    settings = {"api_key": "x", "base_url": "http://bench.invalid"} | settings
    client: Any = anthropic.Anthropic(max_retries=0, **settings)

    def plain(messages: Messages) -> None:
        client.messages.create(model="m", max_tokens=1000, messages=messages)

    def streamed(messages: Messages) -> None:
        with client.messages.stream(model="m", max_tokens=1000, messages=messages) as events:
            events.get_final_message()

    return streamed if stream else plain


def on_transport(stream: bool, transport: Any) -> Call:
    """The call on a transport in this process."""
    return caller(stream, http_client=httpx2.Client(transport=transport))


def bare_transport(stream: bool) -> Any:
    """The library's own `MockTransport` with the door's answer."""
    head, body = canned(stream)
    return httpx2.MockTransport(
        lambda request: httpx2.Response(head.status, headers=head.headers, content=body)
    )
