"""The channels by which programs get messages in mid-turn, over real sockets."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx2
import pytest

from harness.clock import RealClock, real_monotonic, real_sleep
from harness.core.history.events import Accepted, Called
from harness.core.history.history import History
from harness.core.scenario.scenario import InboxItem
from harness.core.transition.transition import Transition
from harness.core.values.calls import InboxRequest
from harness.core.values.plans import Kill
from harness.core.values.profile import Profile
from harness.transports import dispatcher as dispatching
from harness.transports import message_channel
from harness.transports.dispatcher import Dispatcher
from harness.transports.loopback import Loopback
from tests.transports.world import HELLO, REQUEST, loopback, transition

pytestmark = pytest.mark.usefixtures("no_traceback")

INBOX = (
    InboxItem(text="Begin.", attributes={"thread": "t1"}),
    InboxItem(text="Meanwhile.", when={"after": "main/model#1"}),
    InboxItem(text="Thanks."),
)
LONG_S = 20.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_channel, "AGAIN_S", 0.01)


def world(**fields: Any) -> Transition:
    fields = {"inbox": INBOX, "profile": Profile(inbound="queue")} | fields
    return transition(HELLO, **fields)


def until(is_so: Callable[[], object]) -> None:
    """Wait for what another thread does."""
    end_s = real_monotonic() + LONG_S
    while not is_so():
        assert real_monotonic() < end_s, "it does not happen"
        real_sleep(0.01)


def ask_the_model(server: Loopback) -> None:
    httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST).raise_for_status()


def reply(server: Loopback, to: str) -> None:
    said = {"text": "hello", "in_reply_to": to}
    httpx2.post(server.urls.outbox, json=said).raise_for_status()


class Hook:
    """A server of an agent: `heard` are the messages, `statuses` its first answers, then 204."""

    def __init__(self, *statuses: int) -> None:
        self.heard: list[dict[str, Any]] = []
        self.statuses = list(statuses)

    @contextmanager
    def listening(self) -> Iterator[str]:
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                hook.heard.append(json.loads(body))
                self.send_response(hook.statuses.pop(0) if hook.statuses else 204)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hook"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def refusals(history: History) -> list[str]:
    asked = [e.request for e in history.events if isinstance(e, Called) and e.seam == "inbox"]
    return [request.refused for request in asked if isinstance(request, InboxRequest)]


def test_a_webhook_gets_each_message_at_its_moment_and_then_the_end() -> None:
    hook = Hook()
    with loopback(run := world()) as server, hook.listening() as url:
        asked = httpx2.post(f"{server.urls.inbox}/webhook", json={"url": url})
        assert asked.status_code == 204
        until(lambda: len(hook.heard) == 1)
        ask_the_model(server)
        until(lambda: len(hook.heard) == 2)
        assert run.history.past.turn("main") == 1  # it came in mid-turn
        reply(server, "m1")
        reply(server, "m2")
        until(lambda: len(hook.heard) == 3)
        reply(server, "m3")
        until(lambda: len(hook.heard) == 4)
    assert [heard.get("text") for heard in hook.heard] == ["Begin.", "Meanwhile.", "Thanks.", None]
    assert hook.heard[0]["attributes"] == {"thread": "t1"}
    assert hook.heard[-1] == {"kind": "end"}
    assert {heard["attempt"] for heard in hook.heard[:3]} == {1}


def test_what_a_webhook_refuses_is_offered_again_at_once() -> None:
    hook = Hook(204, 503, 500)
    with loopback(run := world()) as server, hook.listening() as url:
        httpx2.post(f"{server.urls.inbox}/webhook", json={"url": url})
        until(lambda: len(hook.heard) == 1)
        ask_the_model(server)
        until(lambda: len(hook.heard) == 4)
        until(lambda: run.history.past.unconfirmed is None)
    assert [(heard["id"], heard["attempt"]) for heard in hook.heard] == [
        ("m1", 1),
        ("m2", 1),
        ("m2", 2),
        ("m2", 3),
    ]
    assert refusals(run.history) == ["", "", "HTTP 503", "HTTP 500"]
    (came,) = run.history.trace.turns["main", 1].came
    assert (came.inbound.attempt, len(run.history.trace.turns)) == (3, 1)


@pytest.mark.parametrize(
    "url", ["http://example.com:80/", "https://127.0.0.1:1/", "http://127.0.0.1/", "http://[", ""]
)
def test_messages_are_posted_to_this_machine_only(url: str) -> None:
    with loopback(run := world()) as server:
        said = httpx2.post(f"{server.urls.inbox}/webhook", json={"url": url})
    assert said.status_code == 400
    assert "on this machine" in said.json()["error"]
    assert not refusals(run.history)


def killed_beside_a_webhook(*statuses: int) -> tuple[Hook, Hook, Transition]:
    """The hooks of two lives, between which the agent is killed with a message on its way."""
    first, second = Hook(*statuses), Hook()
    with loopback(run := world()) as server, first.listening() as url:
        httpx2.post(f"{server.urls.inbox}/webhook", json={"url": url})
        until(lambda: first.heard)
        ask_the_model(server)
        until(lambda: len(first.heard) >= 2)  # a third try may come between two looks
        until(lambda: len(first.heard) > 2 or run.history.past.unconfirmed is None)
        server.dispatcher.on_kill = lambda: run.history.killed(at_ms=0, at="main/model#1") and None
        server.dispatcher.carry_out(Kill())
        server.endpoints.close()
        with second.listening() as again:
            httpx2.post(f"{server.urls.inbox}/webhook", json={"url": again})
            for message in ("m1", "m2"):
                reply(server, message)
            until(lambda: second.heard)
    return first, second, run


def test_a_kill_brings_back_a_message_that_was_not_accepted() -> None:
    first, second, run = killed_beside_a_webhook(204, *[500] * 99)
    assert (second.heard[0]["id"], second.heard[0]["attempt"]) == ("m2", 1 + len(first.heard) - 1)
    assert run.history.past.delivered["main", "m2"] == 1


def test_a_kill_does_not_bring_back_what_was_accepted() -> None:
    first, second, _ = killed_beside_a_webhook(204, 204)
    assert [heard["id"] for heard in first.heard] == ["m1", "m2"]
    assert [heard["id"] for heard in second.heard] == ["m3"]


def test_events_are_accepted_by_the_id_in_the_next_question() -> None:
    with loopback(run := world()) as server:

        def next_event(last: str = "") -> httpx2.Response:
            headers = {"accept": "text/event-stream"} | ({"last-event-id": last} if last else {})
            return httpx2.get(server.urls.inbox, headers=headers, timeout=LONG_S)

        first = next_event()
        assert first.headers["content-type"] == "text/event-stream"
        lines = dict(line.split(": ", 1) for line in first.text.strip().split("\n"))
        assert (lines["id"], lines["event"]) == ("main/m1", "message")
        again = next_event()
        assert '"attempt":2' in again.text
        ask_the_model(server)
        second = next_event(lines["id"])
        assert "id: main/m2\n" in second.text
        reply(server, "m1")
        reply(server, "m2")
        assert "id: main/m3\n" in next_event("main/m2").text
        reply(server, "m3")
        assert next_event("main/m3").status_code == 204
    assert refusals(run.history) == ["", "no acknowledgement", "", "", ""]


def test_a_reader_that_polls_gets_its_message_while_another_call_works() -> None:
    with loopback(run := world()) as server:
        assert httpx2.get(server.urls.inbox).json()["id"] == "m1"
        waits = httpx2.get(server.urls.inbox, params={"wait": "false"})
        assert waits.status_code == 202
        assert isinstance(run.history.events[-1], Accepted)
        ask_the_model(server)
        meanwhile = httpx2.get(server.urls.inbox, params={"wait": "false"})
        assert meanwhile.json()["id"] == "m2"
        assert run.history.past.turn("main") == 1


def test_a_turn_that_ends_without_a_reply_does_not_hold_the_reader_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatching, "QUIET_S", 0.2)
    inbox = (InboxItem(text="One."), InboxItem(text="Two."))
    with loopback(run := world(inbox=inbox)) as server:
        assert httpx2.get(server.urls.inbox).json()["id"] == "m1"
        assert httpx2.get(server.urls.inbox, timeout=LONG_S).json()["id"] == "m2"
        assert httpx2.get(server.urls.inbox, timeout=LONG_S).status_code == 204
    assert run.history.past.turn("main") == 2


def test_lines_are_acknowledged_by_their_id() -> None:
    reads, writes = os.pipe()
    with loopback(run := world()) as server, os.fdopen(reads) as lines:
        refused = httpx2.post(f"{server.urls.inbox}/accepted", json={"id": "m1"})
        assert refused.status_code == 404
        with os.fdopen(writes, "wb") as into:
            server.endpoints.open_lines(into)
            first = json.loads(lines.readline())
            ask_the_model(server)
            assert run.history.past.calls["inbox"] == 1  # the next waits for the acknowledgement
            httpx2.post(f"{server.urls.inbox}/accepted", json={"id": "m1"})
            second = json.loads(lines.readline())
            server.endpoints.close()
    assert (first["id"], second["id"]) == ("m1", "m2")


def test_a_run_that_is_over_lets_no_reader_wait() -> None:
    run = world()
    dispatcher = Dispatcher(run, RealClock())
    assert dispatcher.pushed(False, is_last=False) is not None
    dispatcher.is_over = True
    with pytest.raises(BaseException, match="is over"):
        dispatcher.news(False, real_sleep)
