"""The loopback server while it waits, and its ends: closing, the end of the run, a kill."""

from __future__ import annotations

import threading
from urllib.parse import urlsplit

import httpx2
import pytest

from harness.clock import RealClock
from harness.core.values.errors import InputError
from harness.core.values.plans import Close, Head, Kill, Plan, Raise, Send, Wait
from harness.faults.shared.pieces import FOREVER_MS
from harness.transports.loopback import Loopback
from tests.transports.world import REQUEST, loopback, met, transition

pytestmark = [pytest.mark.usefixtures("no_traceback"), pytest.mark.timeout(60)]


def test_a_client_that_leaves_during_a_wait_is_not_waited_for() -> None:
    with loopback(transition(bend=lambda _: (Wait(3_600_000),))) as server:
        url = f"{server.urls.model}/v1/messages"
        timeout = httpx2.Timeout(20, read=0.05)
        assert met(lambda: httpx2.post(url, json=REQUEST, timeout=timeout)) == "ReadTimeout"


def test_closing_ends_the_longest_wait() -> None:
    asked = threading.Event()

    def stall(_: Plan) -> Plan:
        asked.set()
        return (Wait(3_600_000),)

    seen: list[object] = []
    with loopback(transition(bend=stall)) as server:
        url = f"{server.urls.model}/v1/messages"
        call = threading.Thread(
            target=lambda: seen.append(met(lambda: httpx2.post(url, json=REQUEST, timeout=60)))
        )
        call.start()
        assert asked.wait(60)
    call.join(60)
    assert seen == ["ReadError"]


@pytest.mark.parametrize("ms", [2**31, FOREVER_MS, 2**63, 10**40])
@pytest.mark.parametrize("begun", [False, True])
def test_a_wait_longer_than_the_system_knows_ends_with_the_run(ms: int, begun: bool) -> None:
    """`epoll_wait` refuses more than 2**31 ms at once: half an answer then looked whole."""
    begins = (Send(b"half", Head(200, {"content-type": "text/plain"})),) if begun else ()
    asked = threading.Event()

    def endless(_: Plan) -> Plan:
        asked.set()
        return (*begins, Wait(ms), Close())

    seen: list[object] = []
    with loopback(transition(bend=endless)) as server:
        url = f"{server.urls.model}/v1/messages"
        call = threading.Thread(
            target=lambda: seen.append(met(lambda: httpx2.post(url, json=REQUEST, timeout=None)))
        )
        call.start()
        assert asked.wait(60)
        call.join(0.3)
        assert call.is_alive(), seen
    call.join(60)
    assert seen == ["ReadError"]


def test_a_client_that_leaves_an_endless_wait_is_not_waited_for() -> None:
    with loopback(transition(bend=lambda _: (Wait(FOREVER_MS),))) as server:
        url = f"{server.urls.model}/v1/messages"
        timeout = httpx2.Timeout(20, read=0.05)
        assert met(lambda: httpx2.post(url, json=REQUEST, timeout=timeout)) == "ReadTimeout"
        while server.dispatcher.under_way:  # its thread ends while the server stays open
            threading.Event().wait(0.001)


def test_a_scripted_wait_holds_up_no_other_client() -> None:
    first = threading.Event()

    def stall_once(plan: Plan) -> Plan:
        if first.is_set():
            return plan
        first.set()
        return (Wait(3_600_000), *plan)

    with loopback(transition(bend=stall_once)) as server:
        url = f"{server.urls.model}/v1/messages"
        call = threading.Thread(target=lambda: met(lambda: httpx2.post(url, json=REQUEST)))
        call.start()
        assert first.wait(60)
        assert httpx2.post(url, json=REQUEST).status_code == 200
    call.join(60)


def test_a_port_in_use_is_named() -> None:
    with loopback(transition()) as server:
        port = urlsplit(server.urls.model).port or 0
        with pytest.raises(InputError, match=f"port: cannot listen on 127.0.0.1:{port}"):
            Loopback(transition(), RealClock(), port=port).start()


def test_the_end_of_the_run_is_said_and_passed_on() -> None:
    stopped = threading.Event()
    with loopback(transition(bend=lambda _: (Raise("stop", "the run is over"),))) as server:
        server.dispatcher.on_stop = stopped.set
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST)
        assert stopped.wait(60)
    assert answer.status_code == 503
    assert answer.json() == {"error": "loop-harness: the run is over"}


def test_a_kill_is_passed_on_and_the_connection_is_gone() -> None:
    killed = threading.Event()
    with loopback(transition(bend=lambda _: (Kill(),))) as server:
        server.dispatcher.on_kill = killed.set
        url = f"{server.urls.model}/v1/messages"
        assert met(lambda: httpx2.post(url, json=REQUEST)) == "ReadError"
    assert killed.is_set()
