from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from harness.core.calls import Inbound, OutboxRequest, Received, ToolRequest
from harness.core.events import Called
from harness.core.history import encode
from harness.core.plans import Accepted, Answer, Close, Delivered, Plan, Raise, Send, ToolAnswer
from harness.core.scenario import InboxItem, Limits, ToolScript, ToolTurn, Turn
from harness.core.seams import LIMIT_ANSWERS_MAX, STOP
from harness.core.transition import Transition
from tests.core import world

BAD = [{"role": "user", "content": ""}]


def inbound(plan: Plan) -> Inbound | None:
    answer = plan[-1]
    assert isinstance(answer, Answer)
    assert isinstance(answer.value, Delivered)
    return answer.value.inbound


# Scripts


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "http.status", "status": 529},
        {"kind": "transport.reset_before_headers"},
        {"kind": "transport.close_before_headers"},
        {"kind": "transport.headers_never_come"},
        {"kind": "transport.reset_mid_stream", "after": 0},
    ],
)
def test_a_turn_that_was_replaced_cut_or_reset_comes_again(fault: dict[str, Any]) -> None:
    run = world.run(Turn(say="one"), Turn(say="two"), fault=fault)
    world.ask(run)
    assert [world.text(world.ask(run)) for _ in range(2)] == ["one", "two"]
    assert [a.script_turn for a in world.answers(run)] == [None, 0, 1]
    assert world.answers(run)[0].faults == (fault["kind"],)


def test_a_refused_request_consumes_nothing() -> None:
    run = world.run(Turn(say="one"))
    status, answer = world.said(world.ask(run, BAD))
    assert (status, answer["type"]) == (400, "error")
    assert world.text(world.ask(run)) == "one"
    called = [e for e in run.history.events if isinstance(e, Called)]
    assert called[0].refused
    assert not called[1].refused
    assert world.answers(run)[0].error == called[0].refused[0]


def test_past_the_end_the_wire_says_so_and_the_sdk_is_told_not_to_retry() -> None:
    run = world.run(Turn(say="one", times=2), Turn(say="two"))
    for _ in range(3):
        world.ask(run)
    plan = world.ask(run)
    assert world.said(plan)[0] == 400
    assert world.text(plan) == "loop-harness: the script has ended after 2 turns"
    assert isinstance(plan[0], Send)
    assert plan[0].head
    assert plan[0].head.headers["x-should-retry"] == "false"
    assert world.answers(run)[-1].error == "script.exhausted"


def test_a_purpose_has_a_lane_of_its_own() -> None:
    run = world.run(
        Turn(say="main 1"),
        Turn(say="summary", purpose="compact"),
        Turn(say="main 2"),
        purposes={"(?i)summari[sz]e": "compact"},
    )
    compact = [{"role": "user", "content": "Summarise this."}]
    assert world.text(world.ask(run)) == "main 1"
    assert world.text(world.ask(run, compact)) == "summary"
    assert world.text(world.ask(run, compact, headers={"x-harness-purpose": "main"})) == "main 2"
    purposes = [e.purpose for e in run.history.events if isinstance(e, Called)]
    assert purposes == ["main", "compact", "main"], "the header goes before the expressions"


# Limits


def test_a_model_limit_is_answered_then_the_run_is_stopped() -> None:
    run = world.run(limits=Limits(model_calls=2))
    assert [world.text(world.ask(run)) for _ in range(2)] == ["hello", "hello"]
    for _ in range(LIMIT_ANSWERS_MAX):
        plan = world.ask(run)
        assert world.said(plan)[0] == 400
        assert world.text(plan) == "loop-harness: the limit model_calls = 2 is reached"
    assert world.ask(run) == (STOP,)
    assert world.answers(run)[-1].error == "limit.model_calls"


def test_no_fault_hides_a_limit() -> None:
    fault = {"kind": "http.status", "often": "forever"}
    run = world.run(fault=fault, limits=Limits(model_calls=1))
    assert world.said(world.ask(run))[0] == 529
    assert world.said(world.ask(run))[0] == 400
    for _ in range(LIMIT_ANSWERS_MAX):
        plan = world.ask(run)
    assert plan == (STOP,)


@pytest.mark.parametrize("seam", ["inbox", "outbox"])
def test_the_inbox_and_the_outbox_stop_the_run_at_their_limit(seam: str) -> None:
    fault = {"kind": "http.status", "on": seam, "when": 3}
    run = world.run(fault=fault, limits=Limits(inbox_calls=2, outbox_calls=2))
    call = (
        (lambda: run.next_inbound(0))
        if seam == "inbox"
        else (lambda: run.outbox(OutboxRequest("partial", "x"), 0))
    )
    assert [STOP in call() for _ in range(3)] == [False, False, True]
    assert world.answers(run)[-1].error == f"limit.{seam}_calls"


def test_past_the_virtual_time_every_seam_is_at_its_limit() -> None:
    run = world.run(limits=Limits(virtual_s=1), tools={"t": ToolScript()})
    assert world.said(world.ask(run, at_ms=1000))[0] == 200
    assert world.text(world.ask(run, at_ms=1001)).endswith("the limit virtual_s = 1 is reached")
    assert run.tool(ToolRequest("a", "t", {}), 1001)[-1].value.is_error  # type: ignore[union-attr]
    assert run.outbox(OutboxRequest("final", "x"), 1001) == (STOP,)
    assert run.next_inbound(1001) == (STOP,)


# Tools


def tool(run: Transition, name: str = "t", n: int = 1, at_ms: int = 0) -> Plan:
    return run.tool(ToolRequest(f"toolu_{n}", name, {}), at_ms)


def test_a_tool_that_is_not_there_and_one_that_has_ended_say_so() -> None:
    run = world.run(tools={"t": ToolScript(script=(ToolTurn(ok="once"),))})
    assert tool(run) == (Answer(ToolAnswer("once")),)
    ended = "loop-harness: the script of tool 't' has ended"
    assert tool(run) == (Answer(ToolAnswer(ended, is_error=True)),)
    unknown = "loop-harness: no tool 'u' in the scenario"
    assert tool(run, "u") == (Answer(ToolAnswer(unknown, is_error=True)),)
    errors = [a.error for a in world.answers(run)]
    assert errors == ["", "script.exhausted", "tool.unknown"]


def test_a_tool_limit_is_a_tool_error_then_the_run_is_stopped() -> None:
    fault = {"kind": "tools.raises", "on": "tool", "when": 2, "often": "forever"}
    run = world.run(fault=fault, tools={"t": ToolScript()}, limits=Limits(tool_calls=1))
    assert tool(run) == (Answer(ToolAnswer("ok")),)
    text = "loop-harness: the limit tool_calls = 1 is reached"
    for _ in range(LIMIT_ANSWERS_MAX):
        assert tool(run) == (Answer(ToolAnswer(text, is_error=True)),)
    assert tool(run) == (STOP,)


def test_an_effect_whose_answer_is_lost_happens_again_when_the_agent_tries_again() -> None:
    fault = {"kind": "tools.answer_lost", "on": "tool:pay"}
    pay = ToolScript(script=(ToolTurn(ok="paid", effect="payment", key="k1"),))
    run = world.run(fault=fault, tools={"t": ToolScript(), "pay": pay})
    tool(run)
    assert isinstance(tool(run, "pay")[-1], Raise)
    assert tool(run, "pay")[-1] == Answer(ToolAnswer("paid"))
    effects = [e for e in run.history.events if type(e).__name__ == "Effected"]
    assert [(e.name, e.idempotency_key) for e in effects] == [("payment", "k1")] * 2  # type: ignore[union-attr]
    assert [a.outcome for a in world.answers(run)] == ["ok", "timeout", "ok"]
    assert [a.script_turn for a in world.answers(run)] == [0, None, 0]


def test_a_scripted_raise_is_consumed() -> None:
    script = (ToolTurn(raises="boom"), ToolTurn(ok="fine"))
    run = world.run(tools={"t": ToolScript(script=script)})
    assert tool(run) == (Raise("tool", "boom"),)
    assert tool(run) == (Answer(ToolAnswer("fine")),)
    assert [(a.script_turn, a.complete) for a in world.answers(run)] == [(0, False), (1, True)]


# Inbox


def test_messages_in_order_then_the_end() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(text="b", when={"ms": 5000})))
    first = inbound(run.next_inbound(0))
    assert first == Inbound("m1", text="a")
    plan = run.next_inbound(100)
    assert inbound(plan) == Inbound("m2", text="b", at_ms=5000)
    assert world.answers(run)[-1].steps == ("wait 4900 ms", "answer")
    assert inbound(run.next_inbound(5000)) is None
    assert [a.turn for a in world.answers(run)] == [1, 2, 0]


def test_the_next_question_ends_the_turn_before() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(text="b", session="s2")))
    run.next_inbound(0)
    assert run.history.past.open_inbound("main") == "m1"
    run.next_inbound(0)
    assert run.history.past.open_sessions == ("s2",)
    world.ask(run)
    assert world.answers(run)[-1].key == "s2/model#1"
    run.outbox(OutboxRequest("final", "x"), 0)
    assert run.history.past.open_sessions == ()


def test_a_message_that_waits_for_a_call_comes_after_it() -> None:
    run = world.run(
        inbox=(InboxItem(text="late", when={"after": "model#2"}), InboxItem(text="now"))
    )
    assert inbound(run.next_inbound(0)).text == "now"  # type: ignore[union-attr]
    world.ask(run)
    assert inbound(run.next_inbound(0)) is None
    world.ask(run)
    assert inbound(run.next_inbound(0)).text == "late"  # type: ignore[union-attr]


def test_a_cancel_reaches_the_busy_session_once_and_only_it() -> None:
    items = (
        InboxItem(text="a", when="start"),
        InboxItem(text="b", when="start"),
        InboxItem(kind="cancel", when={"after": "model#1"}),
    )
    run = world.run(inbox=items)
    run.next_inbound(0)
    assert not run.cancelled("main", 0)
    world.ask(run)
    assert not run.cancelled("other", 0)
    assert run.cancelled("main", 0), "a message that waits before it does not hide it"
    before = len(run.history.events)
    assert run.cancelled("main", 0)
    assert len(run.history.events) == before, "asking again is no event"
    assert inbound(run.next_inbound(0)).text == "b"  # type: ignore[union-attr]
    assert not run.cancelled("main", 0)


def test_an_idle_cancel_comes_through_the_inbox() -> None:
    run = world.run(inbox=(InboxItem(text="a"), InboxItem(kind="cancel")))
    run.next_inbound(0)
    assert not run.cancelled("main", 0)
    assert inbound(run.next_inbound(0)).kind == "cancel"  # type: ignore[union-attr]


def test_a_message_that_a_fault_withheld_comes_again() -> None:
    fault = {"kind": "transport.reset_before_headers", "on": "inbox"}
    run = world.run(fault=fault, inbox=(InboxItem(text="a"),))
    assert run.next_inbound(0) == (Close(reset=True),)
    assert not run.history.past.is_open("main")
    assert inbound(run.next_inbound(0)).text == "a"  # type: ignore[union-attr]


# Outbox


@pytest.mark.parametrize(
    ("kind", "carried"), [("http.status", Send), ("transport.reset_before_headers", Close)]
)
def test_the_outbox_may_refuse_or_lose(kind: str, carried: type) -> None:
    run = world.run(fault={"kind": kind, "on": "outbox"})
    assert isinstance(run.outbox(OutboxRequest("final", "x"), 0)[0], carried)
    assert run.outbox(OutboxRequest("final", "x"), 0) == (Answer(Accepted()),)
    taken = [(a.complete, a.outcome) for a in world.answers(run)]
    assert taken == [(False, "error"), (True, "ok")]


# The whole


def conversation(run: Transition, calls: int) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for n in range(calls):
        world.said(world.ask(run, messages, at_ms=n))
        use = {"type": "tool_use", "id": f"toolu_{n}", "name": "t", "input": {"n": 1}}
        run.tool(ToolRequest(f"toolu_{n}", "t", {"n": 1}), n)
        result = {"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "ok"}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def test_an_event_is_as_large_at_the_end_of_a_long_run_as_at_its_beginning() -> None:
    run = world.run(
        Turn(use="t", input={"n": 1}, times="forever"),
        tools={"t": ToolScript()},
        limits=Limits(model_calls=500, tool_calls=500),
    )
    conversation(run, 500)
    sizes: dict[str, list[int]] = {}
    for event in run.history.events:
        sizes.setdefault(type(event).__name__, []).append(len(msgspec.json.encode(event)))
    assert len(sizes["Called"]) == 1000
    for kind, found in sizes.items():
        assert max(found) <= min(found[2:] or found) + 200, kind
    keeps = [
        e.request.keep for e in run.history.events if isinstance(e, Called) and e.seam == "model"
    ]  # type: ignore[union-attr]
    assert keeps == [0, *range(1, 998, 2)]


SCRIPTED = """
from tests.core import world
from tests.core.test_transition import conversation
from harness.core.history import encode
from harness.core.scenario import ToolScript, Turn
import sys
run = world.run(
    Turn(use="t", input={"b": 1, "a": {"z": 1, "y": 2}}, times="forever"),
    fault={"kind": "http.status", "when": {"p": 0.5}, "often": "forever"},
    tools={"t": ToolScript()}, seed=11,
)
conversation(run, 20)
sys.stdout.buffer.write(encode(run.history.events))
"""


def test_one_seed_is_one_history_in_every_process() -> None:
    written = [
        subprocess.run(
            [sys.executable, "-c", SCRIPTED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=os.path.dirname(os.path.dirname(os.path.dirname(__file__))),
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert written[0] == written[1]
    assert 0 < written[0].count(b'"faults":["http.status"]') < 20


def test_a_look_is_taken_before_each_call() -> None:
    run = world.run(tools={"t": ToolScript()})
    looks: list[tuple[int, int]] = []
    run.look = lambda at_ms: looks.append((at_ms, len(run.history.events)))
    world.ask(run, at_ms=5)
    tool(run, at_ms=6)
    called = [e.n for e in run.history.events if isinstance(e, Called)]
    assert [at_ms for at_ms, _ in looks] == [5, 6]
    assert [count + 1 for _, count in looks] == called
    assert encode(run.history.events).count(b"\n") == len(run.history.events)


@pytest.mark.parametrize(("escape", "malformed"), [(b"\\ud83d", True), (b"\\ud83d\\ude00", False)])
def test_a_body_that_holds_half_a_character_is_told(escape: bytes, malformed: bool) -> None:
    run = world.run()
    body = world.body().replace(b'"m"', b'"m' + escape + b'"')
    run.model(Received("/v1/messages", {"anthropic-version": "2023-06-01"}, body, 0))
    (called,) = [e for e in run.history.events if isinstance(e, Called)]
    assert called.malformed is malformed
