from __future__ import annotations

import asyncio
import threading
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import quote

import httpx
import httpx2
import pytest

from harness.clock import VirtualClock, run_async
from harness.core.scenario.scenario import Limits
from harness.core.values.errors import HarnessError, RunStopped
from harness.core.values.plans import Close, Head, Jump, Kill, Plan, Raise, Send, Wait
from harness.transports.httpx_transport import HttpxTransport, _lines_of, library_of
from tests.transports.world import REQUEST, client, in_process, keys

OK = Head(200, {"content-type": "text/plain"})
HALF = Send(b"half ", OK)

ENDS: dict[str, tuple[Plan, str | bytes]] = {
    "whole": ((HALF, Send(b"full")), b"half full"),
    "waits": ((Wait(5), HALF, Wait(5), Send(b"full"), Wait(5)), b"half full"),
    "nothing": ((), "RemoteProtocolError"),
    "closed before": ((Close(),), "RemoteProtocolError"),
    "reset before": ((Close(reset=True),), "ReadError"),
    "closed after half": ((HALF, Close()), b"half "),
    "reset after half": ((HALF, Close(reset=True)), "ReadError"),
    "too short": ((Send(b"12", Head(200, {"content-length": "3"})),), "RemoteProtocolError"),
    "too long": ((Send(b"1234", Head(200, {"content-length": "3"})),), b"123"),
    "cut": (
        (Send(b"12", Head(200, {"transfer-encoding": "chunked"})), Close()),
        "RemoteProtocolError",
    ),
    "no HTTP": ((Send(b"what?"),), "RemoteProtocolError"),
    "silent": ((Raise("timeout"),), "ReadTimeout"),
    "stalled": ((HALF, Raise("timeout")), "ReadTimeout"),
    "refused": ((Raise("connect"),), "ConnectError"),
}


@pytest.mark.parametrize("library", [httpx2, httpx])
@pytest.mark.parametrize("name", ENDS)
def test_a_plan_means_the_same_to_both_libraries_sync_and_async(
    library: ModuleType, name: str
) -> None:
    plan, wanted = ENDS[name]
    assert _sync(library, plan) == wanted
    assert _async(library, plan) == wanted


def _sync(library: Any, plan: Plan) -> str | bytes:
    transport = HttpxTransport(in_process(bend=lambda _: plan, clock=VirtualClock()))
    with library.Client(transport=transport) as http:
        try:
            content: bytes = http.post("http://model.invalid/v1/messages", json=REQUEST).content
        except library.TransportError as error:
            return type(error).__name__
    return content


def _async(library: Any, plan: Plan) -> str | bytes:
    clock = VirtualClock()
    transport = HttpxTransport(in_process(bend=lambda _: plan, clock=clock))

    async def main() -> str | bytes:
        async with library.AsyncClient(transport=transport) as http:
            try:
                answer = await http.post("http://model.invalid/v1/messages", json=REQUEST)
            except library.TransportError as error:
                return type(error).__name__
            content: bytes = answer.content
            return content

    return run_async(main, clock)


def test_waits_pass_on_the_runs_clock() -> None:
    clock = VirtualClock()
    waiting = (Wait(1000), HALF, Wait(2000), Send(b"x"))
    with client(in_process(bend=lambda _: waiting, clock=clock)) as http:
        http.post("/v1/messages", json=REQUEST)
    assert [wait.source for wait in clock.waits] == ["transport", "transport"]
    assert clock.now_ms() == 3000


def test_a_wait_longer_than_the_clients_patience_is_its_time_out() -> None:
    clock = VirtualClock()
    dispatcher = in_process(bend=lambda plan: (Wait(60_000), *plan), clock=clock)
    with client(dispatcher) as http, pytest.raises(httpx2.ReadTimeout):
        http.post("/v1/messages", json=REQUEST, timeout=20)
    assert clock.now_ms() == 20_000


def test_the_wall_clock_jumps_alone() -> None:
    clock = VirtualClock(epoch_s=0)
    with client(in_process(bend=lambda plan: (Jump(5000), *plan), clock=clock)) as http:
        assert http.post("/v1/messages", json=REQUEST).status_code == 200
    assert (clock.time(), clock.now_ms()) == (5.0, 0)


def test_a_kill_is_carried_out_where_it_stands() -> None:
    dispatcher = in_process(bend=lambda _: (HALF, Kill(), Send(b"x")), clock=VirtualClock())
    killed: list[bool] = []
    dispatcher.on_kill = lambda: killed.append(True)
    with client(dispatcher) as http, http.stream("POST", "/v1/messages", json=REQUEST) as answer:
        parts = answer.iter_raw()
        assert (next(parts), killed) == (b"half ", [])
        assert (next(parts), killed) == (b"x", [True])


@pytest.mark.parametrize(("behind", "killed"), [((Kill(),), 1), ((Wait(1), Kill()), 0)])
def test_a_kill_meets_a_client_that_reads_no_further(behind: Plan, killed: int) -> None:
    """The OpenAI SDK reads to `[DONE]` and closes."""
    dispatcher = in_process(bend=lambda _: (HALF, *behind), clock=VirtualClock())
    kills: list[int] = []
    dispatcher.on_kill = lambda: kills.append(1)
    with client(dispatcher).stream("POST", "/v1/messages", json=REQUEST) as response:
        assert next(response.iter_raw())
    assert len(kills) == killed

    async def read() -> None:
        transport: Any = HttpxTransport(dispatcher)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://model.invalid") as agent,
            agent.stream("POST", "/v1/messages", json=REQUEST) as answer,
        ):
            assert await anext(answer.aiter_raw())

    asyncio.run(read())
    assert len(kills) == 2 * killed


def test_the_end_of_the_run_goes_past_what_catches_exceptions() -> None:
    with (
        client(in_process(bend=lambda _: (Raise("stop", "over"),))) as http,
        pytest.raises(RunStopped, match="over"),
    ):
        http.post("/v1/messages", json=REQUEST)


def test_a_session_comes_from_the_path() -> None:
    dispatcher = in_process()
    with client(dispatcher) as http:
        http.post("/s/blue/v1/messages", json=REQUEST)
        http.post("/v1/messages", json=REQUEST)
    assert keys(dispatcher.transition.history, "Called") == ["blue/model#1", "main/model#1"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/files", 404),
        ("POST", "/v1/chat/completions", 404),
        ("POST", "/s/blue/v1/complete", 404),
        ("GET", "/v1/messages", 405),
    ],
)
def test_another_path_is_told_which_ones_there_are(method: str, path: str, status: int) -> None:
    dispatcher = in_process()
    with client(dispatcher) as http:
        answer = http.request(method, path)
    assert answer.status_code == status
    assert "POST /v1/messages" in answer.json()["error"]["message"]
    assert dispatcher.transition.history.events == []


def test_two_clients_at_once_never_overlap_in_the_transition() -> None:
    dispatcher = in_process(limits=Limits(model_calls=40))
    with client(dispatcher) as http:
        threads = [threading.Thread(target=_five_calls, args=(http,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    called = keys(dispatcher.transition.history, "Called")
    assert sorted(called) == sorted(f"main/model#{n}" for n in range(1, 41))
    numbers = [event.n for event in dispatcher.transition.history.events]
    assert numbers == list(range(1, len(numbers) + 1))


def _five_calls(http: httpx2.Client) -> None:
    for _ in range(5):
        assert http.post("/v1/messages", json=REQUEST).status_code == 200


def test_a_foreign_request_is_said_to_be_one() -> None:
    with pytest.raises(HarnessError, match="httpx2 and httpx, not builtins"):
        library_of(object)


def test_a_sync_client_inside_a_plain_event_loop_still_answers() -> None:
    async def main() -> int:
        with client(in_process()) as http:
            return http.post("/v1/messages", json=REQUEST).status_code

    assert asyncio.run(main()) == 200


def test_the_headers_of_a_library_that_keeps_them_elsewhere_are_read_too() -> None:
    headers = SimpleNamespace(raw=[(b"X-Harness-Purpose", b"aux"), (b"Content-Length", b"9")])
    assert [line[1:] for line in _lines_of(headers)] == [(b"x-harness-purpose", b"aux")]


def test_a_slash_in_the_name_of_a_model_is_no_slash_of_the_path() -> None:
    name = "arn:aws:bedrock:us-east-1:1:application-inference-profile/a"
    body = {**REQUEST, "anthropic_version": "bedrock-2023-05-31"}
    del body["model"]
    with client(in_process()) as http:
        answer = http.post(f"/model/{quote(name, safe='')}/invoke", json=body)
    assert (answer.status_code, answer.json()["model"]) == (200, name)
