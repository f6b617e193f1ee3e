"""The endpoints of the loopback server beside the model: tools, inbox and outbox."""

from __future__ import annotations

import httpx2
import pytest

from harness.clock import RealClock
from harness.core.history.events import Called
from harness.core.scenario.scenario import ApprovalTurn, InboxItem, Limits, ToolScript, ToolTurn
from harness.core.values.calls import OutboxRequest
from harness.core.values.plans import Close
from harness.transports import inbox_polls
from harness.transports.loopback import Loopback
from tests.transports.world import keys, loopback, met, transition

pytestmark = pytest.mark.usefixtures("no_traceback")

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


def test_a_program_asks_whether_a_call_may_run() -> None:
    gated = ToolScript(approval=(ApprovalTurn(answer="deny", reason="not today"),))
    with loopback(run := transition(tools={"pay": gated, **TOOLS})) as server:
        listed = httpx2.get(server.urls.tools).json()
        asked = {"tool": "pay", "id": "t1", "input": {"sum": 15}}
        denied = httpx2.post(server.urls.approvals, json=asked).json()
        allowed = httpx2.post(server.urls.approvals, json={**asked, "tool": "say"}).json()
        assert httpx2.post(server.urls.approvals, json={"id": "t1"}).status_code == 400
    assert [tool.get("needs_approval", False) for tool in listed] == [True, False, False, False]
    assert (denied["id"], denied["answer"], denied["reason"]) == ("t1", "deny", "not today")
    assert (allowed["answer"], allowed["input"]) == ("allow", {"sum": 15})
    questions = run.history.trace.questions
    assert [question.approval and question.approval.answer for question in questions] == [
        "deny",
        "allow",
    ]


def test_faults_reach_a_tools_connection() -> None:
    run = transition(tools=TOOLS, on="tool", bend=lambda _: (Close(reset=True),))
    with loopback(run) as server:
        url = f"{server.urls.tools}/say"
        assert met(lambda: httpx2.post(url, json={"id": "t1"})) == "ReadError"


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("tools/say", b'{"id": 3}', "$.id"),
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


def test_half_a_character_is_handed_on_by_an_escape() -> None:
    with loopback(run := transition(tools=TOOLS)) as server:
        said = httpx2.post(server.urls.outbox, content=rb'{"text": "half \ud83d"}')
        url = f"{server.urls.tools}/say"
        called = httpx2.post(url, content=rb'{"id": "a", "input": {"word": "half \ud83d"}}')
        wrong = httpx2.post(server.urls.outbox, content=rb'{"text": 3, "kind": "half \ud83d"}')
    assert (said.status_code, called.status_code, wrong.status_code) == (204, 200, 400)
    requests = [event.request for event in run.history.events if isinstance(event, Called)]
    assert isinstance(requests[0], OutboxRequest)
    assert requests[0].text == "half \ud83d"


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
    assert message.pop("attempt") == 1
    assert message == {
        "id": "m1",
        "session": "main",
        "kind": "message",
        "text": "one",
        "attributes": {},
    }
    assert second.json()["session"] == "blue"
    assert (none.status_code, none.content) == (204, b"")
    assert set(run.history.past.delivered) == {("main", "m1"), ("blue", "m2")}


def test_a_message_that_is_not_due_yet_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_polls, "INBOX_WAIT_MS", 20)
    inbox = (InboxItem(id="m1", text="late", when={"ms": 500}),)
    # Set by hand: on a busy machine half a second was over before the first question came.
    clock = RealClock()
    now_ms = 0
    monkeypatch.setattr(clock, "now_ms", lambda: now_ms)
    with Loopback(run := transition(inbox=inbox), clock) as server, httpx2.Client() as agent:
        early = [agent.get(server.urls.inbox).status_code for _ in range(2)]
        now_ms = 500
        due = agent.get(server.urls.inbox)
    assert early == [202, 202]
    assert due.json()["id"] == "m1"
    assert keys(run.history, "Called") == ["main/inbox#1"]


def test_the_outbox_takes_what_is_said_and_can_be_full() -> None:
    run = transition(limits=Limits(outbox_calls=1))
    said = {"session": "main", "in_reply_to": "m1", "kind": "final", "text": "done", "status": None}
    with loopback(run) as server, httpx2.Client() as agent:
        taken = agent.post(server.urls.outbox, json=said)
        over = agent.post(server.urls.outbox, json=said)
    assert (taken.status_code, over.status_code) == (204, 503)
