"""The transition at a limit: the agent is told, and then the run is stopped."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import InboxItem, Limits, ToolScript
from harness.core.transition.limits import LIMIT_ANSWERS_MAX, STOP
from harness.core.values.calls import OutboxRequest, ToolRequest
from harness.core.values.plans import Answer, ToolAnswer
from tests.core import world
from tests.core.tool_calls import tool


def test_a_model_limit_is_answered_then_the_run_is_stopped() -> None:
    run = world.run(limits=Limits(model_calls=2))
    assert [world.text(world.ask(run)) for _ in range(2)] == ["hello", "hello"]
    for _ in range(LIMIT_ANSWERS_MAX):
        plan = world.ask(run)
        assert world.said(plan)[0] == 400
        assert world.text(plan) == "loop-harness: the limit model_calls = 2 is reached"
    assert world.ask(run) == (STOP,)
    assert world.answers(run)[-1].error == "limit.model_calls"


def test_each_turn_of_a_session_has_its_own_limit() -> None:
    sessions = ("main", "side", "main")
    inbox = tuple(InboxItem(id=str(n), text="hi", session=s) for n, s in enumerate(sessions))
    run = world.run(inbox=inbox, limits=Limits(turn_calls=2))
    for name in sessions:
        run.next_inbound(0)
        asked = [world.said(world.ask(run, session=name))[0] for _ in range(3)]
        assert asked == [200, 200, 400]
        assert world.answers(run)[-1].error == "limit.turn_calls"


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


def test_a_tool_limit_is_a_tool_error_then_the_run_is_stopped() -> None:
    fault = {"kind": "tools.raises", "on": "tool", "when": 2, "often": "forever"}
    run = world.run(fault=fault, tools={"t": ToolScript()}, limits=Limits(tool_calls=1))
    assert tool(run) == (Answer(ToolAnswer("ok")),)
    text = "loop-harness: the limit tool_calls = 1 is reached"
    for _ in range(LIMIT_ANSWERS_MAX):
        assert tool(run) == (Answer(ToolAnswer(text, is_error=True)),)
    assert tool(run) == (STOP,)
