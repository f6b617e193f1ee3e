"""What a model call costs through our doors, as ratios to the same call without us.

In process the yardstick is the SDK on a bare `MockTransport` that answers the very bytes that our
wire writes; over loopback it is the SDK against the smallest server that a socket allows. Both
sides are measured in turn, call by call, and the median of these pairs' ratios is what counts.
"""

from __future__ import annotations

import multiprocessing
import socket
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple

import anthropic
import httpx2
import msgspec

from bench import pairs, smallest_server
from bench.figure import Figure
from harness.clock import RealClock, VirtualClock
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
from harness.transports.httpx_transport import HttpxTransport
from harness.transports.loopback import Loopback

IN_PROCESS_MOST, LOOPBACK_MOST = 1.10, 1.2
SIZES = (1, 31, 299)
ROUNDS, CALLS = 9, 100
TEXT = "The quick brown fox jumps over the lazy dog. " * 4
TURN = Turn(say=TEXT, times="forever")

Messages = list[dict[str, Any]]
Call = Callable[[Messages], None]
Requests = Callable[[int], Iterator[Messages]]
Serve = Callable[[socket.socket, bytes], None]


def transition(*faults: FaultSpec) -> Transition:
    """A run whose script says one thing for ever."""
    scenario = Scenario(name="bench", script=(TURN,), limits=Limits(model_calls=1 << 40))
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
    """So many messages, the user's first; `last` tells the last one from that of other calls."""
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{n}: {TEXT}"}
        for n in range(length - 1)
    ] + [{"role": "user", "content": f"{last}: {TEXT}"}]


def same_length(length: int) -> Requests:
    """Requests of one length that differ in their last message."""
    return lambda calls: (conversation(length, n) for n in range(calls))


def growing(calls: int) -> Iterator[Messages]:
    """Requests that each extend the last one by an answer and a new message."""
    messages = conversation(1)
    for n in range(calls):
        yield messages
        messages = [
            *messages,
            {"role": "assistant", "content": TEXT},
            {"role": "user", "content": f"{n}: {TEXT}"},
        ]


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


def http(head: Head, body: bytes) -> bytes:
    """An answer as bytes on the wire."""
    lines = [f"HTTP/1.1 {head.status} OK", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in head.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def other_server(serve: Serve, stream: bool, process: bool) -> Iterator[str]:
    """The address of another server, in a thread or a process of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    arguments = (listener, http(*canned(stream)))
    context = multiprocessing.get_context("fork")
    run: Any = context.Process if process else threading.Thread
    server = run(target=serve, args=arguments, daemon=True)
    server.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    if process:
        server.terminate()


def _our_server(ready: Any) -> None:
    with Loopback(transition(), RealClock()) as server:
        ready.send(server.urls.model)
        ready.recv()


@contextmanager
def our_server(process: bool) -> Iterator[str]:
    """The address of our loopback door, in threads or a process of its own."""
    if not process:
        with Loopback(transition(), RealClock()) as server:
            yield server.urls.model
        return
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_our_server, args=(theirs,), daemon=True)
    child.start()
    yield ours.recv()
    ours.send(None)
    child.join(5)


class Case(NamedTuple):
    """Two ways to make the same calls; `both` opens them, the bare one first."""

    name: str
    both: Callable[[], AbstractContextManager[tuple[Call, Call]]]
    requests: Requests
    most: float


def compare(cases: Sequence[Case], rounds: int) -> Iterator[Figure]:
    """The median over all calls of (our time / bare time), each round with fresh clients.

    The third of the rounds counts in which the bare call was quickest: the machine was at rest.
    """
    measured: list[list[list[tuple[float, float]]]] = [[] for _ in cases]
    for _ in range(rounds):
        for case, times in zip(cases, measured, strict=True):
            with case.both() as (bare, ours):
                times.append([*pairs.seconds(bare, ours, case.requests(CALLS))])
    for case, times in zip(cases, measured, strict=True):
        quiet = [pair for some in sorted(times, key=_bare_s)[: -(-rounds // 3)] for pair in some]
        ratio = statistics.median(our_s / bare_s for bare_s, our_s in quiet)
        yield Figure(case.name, ratio, case.most, beside=f"of {_bare_s(quiet) * 1e6:6.0f} us")


def _bare_s(times: Sequence[tuple[float, float]]) -> float:
    return statistics.median(bare_s for bare_s, _ in times)


@contextmanager
def in_process(stream: bool) -> Iterator[tuple[Call, Call]]:
    """The call on a bare transport, and on our door's."""
    yield on_transport(stream, bare_transport(stream)), on_transport(stream, HttpxTransport(door()))


@contextmanager
def loopback(serve: Serve, stream: bool, process: bool) -> Iterator[tuple[Call, Call]]:
    """The call on another server, and on our door's."""
    with other_server(serve, stream, process) as bare_url, our_server(process) as our_url:
        yield caller(stream, base_url=bare_url), caller(stream, base_url=our_url)


def in_process_cases() -> Iterator[Case]:
    """The in-process door, plain and streamed."""
    for stream in (False, True):
        kind = ("plain", "streamed")[stream]
        sizes: list[tuple[str, Requests]] = [(f"{n} messages", same_length(n)) for n in SIZES]
        for size, requests in [*sizes, ("growing to 299 messages", lambda _: growing(150))]:
            name = f"in process, {kind}, {size}"
            yield Case(name, partial(in_process, stream), requests, IN_PROCESS_MOST)


def loopback_cases(beside: str, serve: Serve, sizes: Sequence[int], most: float) -> Iterator[Case]:
    """The loopback door, plain and streamed, beside the client and in a process of its own."""
    for process in (False, True):
        for stream in (False, True):
            place, kind = ("thread", "process")[process], ("plain", "streamed")[stream]
            for length in sizes:
                name = f"{beside}, {place}, {kind}, {length} messages"
                both = partial(loopback, serve, stream, process)
                yield Case(name, both, same_length(length), most)


def figures(rounds: int) -> Iterator[Figure]:
    """Every ratio."""
    yield from compare([*in_process_cases()], rounds)
    smallest = loopback_cases("loopback", smallest_server.serve, SIZES, LOOPBACK_MOST)
    yield from compare([*smallest], rounds)


def main() -> int:
    """Print every ratio; 1 when one is over its bound."""
    over = 0
    for figure in figures(ROUNDS):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
