from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from harness.clock import RealClock, VirtualClock
from harness.core.errors import InputError
from harness.core.plans import Close, Head, Kill, Plan, Raise, Send, Wait
from harness.core.scenario import InboxItem, Limits, ToolScript, ToolTurn
from harness.doors import endpoints, http
from harness.doors.loopback import Loopback
from tests.doors.test_transport import ENDS
from tests.doors.world import REQUEST, client, in_process, keys, loopback, met, transition

BODY = json.dumps(REQUEST).encode()
OK = Head(200, {"content-type": "text/plain"})


@pytest.fixture(autouse=True)
def tracebacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No thread of a server may die of an exception."""
    seen: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", seen.append)
    yield
    assert seen == []


def raw(server: Loopback, data: bytes, *, leave: bool = False) -> bytes:
    """What the server says to these bytes until it closes; `leave`: no more bytes will come."""
    port = int(server.urls.model.rpartition(":")[2])
    with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as sock:
        sock.sendall(data)
        if leave:
            sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(1 << 16), b""))


LAST = "connection: close"


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: x", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


REFUSED = {"refused": "ReadError"}
"""A socket that was accepted cannot be refused any more: the nearest thing is a reset."""


@pytest.mark.parametrize("name", ENDS)
def test_a_plan_means_the_same_through_both_doors(name: str) -> None:
    plan, _ = ENDS[name]
    with client(in_process(bend=lambda _: plan, clock=VirtualClock())) as inner:
        inside = met(lambda: inner.post("/v1/messages", json=REQUEST))
    with loopback(transition(bend=lambda _: plan)) as server:
        url = f"{server.urls.model}/v1/messages"
        outside = met(lambda: httpx2.post(url, json=REQUEST, timeout=0.2))
    assert outside == REFUSED.get(name, inside)


def test_what_is_known_at_once_is_one_segment_with_its_length() -> None:
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Send(b"b")))) as server:
        head, _, body = raw(server, post("/v1/messages", BODY, LAST)).partition(b"\r\n\r\n")
    assert b"content-length: 2" in head
    assert body == b"ab"


def test_what_comes_in_pieces_comes_in_chunks() -> None:
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Wait(1), Send(b"bc")))) as server:
        head, _, body = raw(server, post("/v1/messages", BODY, LAST)).partition(b"\r\n\r\n")
    assert b"transfer-encoding: chunked" in head
    assert body == b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"


def test_an_old_client_gets_no_chunks() -> None:
    request = post("/v1/messages", BODY).replace(b"HTTP/1.1", b"HTTP/1.0")
    with loopback(transition(bend=lambda _: (Send(b"a", OK), Wait(1), Send(b"bc")))) as server:
        head, _, body = raw(server, request).partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert body == b"abc"


def test_requests_that_come_together_are_answered_in_turn_on_one_connection() -> None:
    with loopback(run := transition()) as server:
        post_one = post("/v1/messages", BODY)
        answer = raw(server, post_one * 2 + post("/v1/messages", BODY, LAST))
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert keys(run.history, "Called") == [f"main/model#{n}" for n in (1, 2, 3)]


def test_a_request_in_chunks_is_read_whole() -> None:
    framing = f"{LAST}\r\ntransfer-encoding: chunked\r\n\r\n"
    head = f"POST /v1/messages HTTP/1.1\r\nhost: x\r\n{framing}".encode()
    pieces = b"".join(http.chunk(BODY[at : at + 7]) for at in range(0, len(BODY), 7))
    with loopback(transition()) as server:
        answer = raw(server, head + pieces + http.LAST_CHUNK)
    assert answer.startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    with loopback(transition()) as server:
        port = int(server.urls.model.rpartition(":")[2])
        with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as sock:
            head = post("/v1/messages", BODY, "expect: 100-continue")[: -len(BODY)]
            sock.sendall(head)
            assert sock.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
            sock.sendall(BODY)
            assert sock.recv(1 << 16).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"what is this\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", b"400"),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * (70 << 10), b"431"),
        (b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n", b"413"),
    ],
)
def test_what_is_no_good_request_is_told_so(data: bytes, status: bytes) -> None:
    with loopback(run := transition()) as server:
        answer = raw(server, data)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"loop-harness: " in answer
    assert run.history.events == []


def test_a_large_body_is_read() -> None:
    request = {**REQUEST, "messages": [{"role": "user", "content": "x" * (8 << 20)}]}
    with loopback(run := transition()) as server:
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=request)
    assert answer.status_code == 200
    assert run.history.past.calls["model"] == 1


@pytest.mark.parametrize("data", [b"", b"POST /v1", post("/v1/messages", BODY)[:-5]])
def test_a_client_that_leaves_early_is_no_call(data: bytes) -> None:
    with loopback(run := transition()) as server:
        assert b"200" not in raw(server, data, leave=True)
        assert httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST).status_code == 200
    assert keys(run.history, "Called") == ["main/model#1"]


def test_a_client_that_leaves_during_a_wait_is_not_waited_for() -> None:
    with loopback(transition(bend=lambda _: (Wait(3_600_000),))) as server:
        url = f"{server.urls.model}/v1/messages"
        assert met(lambda: httpx2.post(url, json=REQUEST, timeout=0.05)) == "ReadTimeout"


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
        assert asked.wait(10)
    call.join(10)
    assert seen == ["RemoteProtocolError"]


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
        assert first.wait(10)
        assert httpx2.post(url, json=REQUEST).status_code == 200
    call.join(10)


def test_a_port_in_use_is_named() -> None:
    with loopback(transition()) as server:
        port = int(server.urls.model.rpartition(":")[2])
        with pytest.raises(InputError, match=f"port: cannot listen on 127.0.0.1:{port}"):
            Loopback(transition(), RealClock(), port=port).start()


def test_the_end_of_the_run_is_said_and_passed_on() -> None:
    stopped = threading.Event()
    with loopback(transition(bend=lambda _: (Raise("stop", "the run is over"),))) as server:
        server.on_stop = stopped.set
        answer = httpx2.post(f"{server.urls.model}/v1/messages", json=REQUEST)
        assert stopped.wait(10)
    assert answer.status_code == 503
    assert answer.json() == {"error": "loop-harness: the run is over"}


def test_a_kill_is_passed_on_and_the_connection_is_gone() -> None:
    killed = threading.Event()
    with loopback(transition(bend=lambda _: (Kill(),))) as server:
        server.on_kill = killed.set
        url = f"{server.urls.model}/v1/messages"
        assert met(lambda: httpx2.post(url, json=REQUEST)) == "ReadError"
    assert killed.is_set()


TOOLS = {
    "say": ToolScript(description="Says", script=(ToolTurn(ok="yes", times="forever"),)),
    "fail": ToolScript(script=(ToolTurn(error="no such file"),)),
    "break": ToolScript(script=(ToolTurn(raises="boom"),)),
}


def test_the_tools_are_listed_and_called() -> None:
    with loopback(run := transition(tools=TOOLS)) as server, httpx2.Client() as agent:
        listed = agent.get(server.urls.tools).json()
        said = {
            name: agent.post(f"{server.urls.tools}/{name}", json={"id": f"t_{name}", "input": {}})
            for name in TOOLS
        }
    assert [tool["name"] for tool in listed] == list(TOOLS)
    assert listed[0]["description"] == "Says"
    assert said["say"].json() == {"content": "yes", "is_error": False}
    assert said["fail"].json() == {"content": "no such file", "is_error": True}
    assert (said["break"].status_code, said["break"].json()) == (
        500,
        {"error": "loop-harness: boom"},
    )
    assert run.history.past.crossed == {"t_say", "t_fail", "t_break"}


def test_faults_reach_a_tools_connection() -> None:
    run = transition(tools=TOOLS, on="tool", bend=lambda _: (Close(reset=True),))
    with loopback(run) as server:
        url = f"{server.urls.tools}/say"
        assert met(lambda: httpx2.post(url, json={"id": "t1"})) == "ReadError"


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("tools/say", b"{}", "`id`"),
        ("tools/say", b"{", "truncated"),
        ("tools/say", b'{"id": "a", "inptu": {}}', "inptu"),
        ("outbox", b'{"kind": "loud", "text": "a"}', "$.kind"),
        ("outbox", b'{"kind": "final"}', "`text`"),
    ],
)
def test_a_wrong_body_is_told_where(path: str, body: bytes, where: str) -> None:
    with loopback(run := transition(tools=TOOLS)) as server:
        answer = httpx2.post(f"{server.urls.model}/harness/{path}", content=body)
    assert answer.status_code == 400
    assert where in answer.json()["error"]
    assert run.history.events == []


def test_another_verb_or_path_is_told_which_ones_there_are() -> None:
    with loopback(transition()) as server:
        answer = httpx2.post(f"{server.urls.model}/harness/inbox")
    assert answer.status_code == 404
    assert "GET /harness/inbox" in answer.json()["error"]


def test_messages_come_one_by_one_and_then_no_more() -> None:
    inbox = (InboxItem(id="m1", text="one"), InboxItem(id="m2", text="two", session="blue"))
    with loopback(run := transition(inbox=inbox)) as server, httpx2.Client() as agent:
        first, second, none = (agent.get(server.urls.inbox) for _ in range(3))
    message = first.json()
    assert message.pop("at_ms") >= 0
    assert message == {"id": "m1", "session": "main", "kind": "message", "text": "one"}
    assert second.json()["session"] == "blue"
    assert (none.status_code, none.content) == (204, b"")
    assert set(run.history.past.delivered) == {"m1", "m2"}


def test_a_message_that_is_not_due_yet_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "INBOX_WAIT_MS", 20)
    inbox = (InboxItem(id="m1", text="late", when={"ms": 500}),)
    with loopback(run := transition(inbox=inbox)) as server, httpx2.Client() as agent:
        answers = [agent.get(server.urls.inbox)]
        while answers[-1].status_code == 202:
            answers.append(agent.get(server.urls.inbox))
    assert answers[-1].json()["id"] == "m1"
    assert len(answers) > 1
    assert keys(run.history, "Called") == ["main/inbox#1"]


def test_the_outbox_takes_what_is_said_and_can_be_full() -> None:
    run = transition(limits=Limits(outbox_calls=1))
    said = {"session": "main", "in_reply_to": "m1", "kind": "final", "text": "done", "status": None}
    with loopback(run) as server, httpx2.Client() as agent:
        taken = agent.post(server.urls.outbox, json=said)
        over = agent.post(server.urls.outbox, json=said)
    assert (taken.status_code, over.status_code) == (204, 503)
