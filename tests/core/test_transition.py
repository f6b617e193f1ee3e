"""The transition and the model: which turn of the script is played, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.events import Called
from harness.core.history.history import encode
from harness.core.scenario.scenario import ToolScript, Turn
from harness.core.values.calls import Received
from harness.core.values.plans import Send
from tests.core import world
from tests.core.tool_calls import tool

BAD = [{"role": "user", "content": ""}]


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


def test_a_summary_that_repeats_what_was_asked_for_it_is_no_request_for_one() -> None:
    run = world.run(
        Turn(say="main 1"),
        Turn(say="summary", purpose="compact"),
        Turn(say="main 2"),
        purposes={"Summarise": "compact"},
        fault={"kind": "context.summary_repeats", "on": "compact"},
    )
    world.ask(run)
    asked = "Summarise this."
    assert world.text(world.ask(run, [{"role": "user", "content": asked}])) == asked
    after = [{"role": "user", "content": f"(What was said before) {asked}"}]
    assert world.text(world.ask(run, after)) == "main 2"


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
