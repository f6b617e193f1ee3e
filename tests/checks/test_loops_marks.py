"""Loops whose results differ in a counter, a time or an id only, and turns that look like them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness import InboxItem, Run, Scenario, ToolScript, ToolTurn, Turn, run
from harness.checks.false_stops import no_false_stop
from harness.checks.loops import no_progress_stop
from harness.core.history.repetition import without_marks
from tests.checks.ending_agents import Chat, result
from tests.checks.histories import Story, codes, loop

ID = "3f2a9c1{}e0-1b2c-4d3e-8f90-0123456789ab".replace("}e0", "}")
LOOPS = (
    "[Tool loop warning: count={}]",
    "Still waiting. attempt {}",
    "You called this {} times.",
    "Nothing new at 2026-11-22T10:0{}:00Z.",
    "No change, took 0.{} s",
    "Nothing found (request req_8f2k31a{})",
    f"Nothing found ({ID})",
)
PROGRESS = (
    "{} %",
    "attempt {} of 9",
    "count={}/9",
    "processed {} files",
    "step {} is done",
    "line {}: found",
    "ETA 1{} s",
    "page {}",
)


def polled(shape: str, times: int = 8) -> Story:
    story = Story().turn("go")
    for number in range(times):
        loop(story, "poll", 1, {"job": "a"}, content=shape.format(number))
    return story


@pytest.mark.parametrize("shape", LOOPS)
def test_results_that_differ_in_marks_only_are_no_progress(shape: str) -> None:
    assert codes(no_progress_stop(polled(shape).end())) == ["no_progress_stop.like_call"]
    assert codes(no_progress_stop(polled(shape, 6).end())) == []


@pytest.mark.parametrize("shape", PROGRESS)
def test_results_that_say_how_far_it_is_are_progress(shape: str) -> None:
    assert without_marks(shape.format(1)) != without_marks(shape.format(2))
    assert codes(no_progress_stop(polled(shape).end())) == []


def test_paging_with_other_inputs_is_progress() -> None:
    story = Story().turn("go")
    for number in range(8):
        loop(story, "list", 1, {"page": number}, content=f"count={number}")
    assert codes(no_progress_stop(story.end())) == []


def test_a_state_that_changes_between_is_progress() -> None:
    story = Story().turn("go")
    for number in range(10):
        state = "queued" if number < 5 else "running"
        loop(story, "poll", 1, content=f"{state}, attempt {number}")
    assert codes(no_progress_stop(story.end())) == []


def test_an_agent_may_stop_at_the_third_such_result() -> None:
    story = polled(LOOPS[0], 3).reply(tools=False).final("It does not go on.", "failed")
    assert codes(no_false_stop(story.end())) == []


def test_an_agent_that_stops_at_the_third_step_of_progress_is_still_found() -> None:
    story = polled(PROGRESS[0], 3).reply(tools=False).final("It does not go on.", "failed")
    assert codes(no_false_stop(story.end())) == ["no_false_stop.withdrawn"]


WATCH = Scenario(
    name="counted",
    tools={"watch": ToolScript(script=tuple(ToolTurn(ok=LOOPS[0].format(n)) for n in range(20)))},
    inbox=(InboxItem(id="m1", text="Watch it."),),
    script=(Turn(use="watch", times=15), Turn(say="It does not change.", when="ended")),
)


def naive(brief: object) -> None:
    """It runs what it is asked for."""
    for inbound in brief.inbox():  # type: ignore[attr-defined]
        chat, [watch] = Chat(brief), brief.tools  # type: ignore[attr-defined]
        chat.hear(inbound.text)
        reply = chat.ask()
        while calls := [block for block in reply.content if block.type == "tool_use"]:
            chat.hear([result(call, watch.call(call.input, id=call.id)) for call in calls])
            reply = chat.ask()
        brief.send(reply.content[-1].text, in_reply_to=inbound.id)  # type: ignore[attr-defined]


def found(agent: Callable[..., object]) -> set[str]:
    played: Run = run(WATCH, agent)
    return {f.code for f in played.verdict.findings if f.check == "no_progress_stop"}


def test_a_live_run_shows_it_and_the_reference_agent_stops() -> None:
    from harness.agent import agent as reference

    assert found(naive) == {"no_progress_stop.like_call"}
    played = run(WATCH, reference)
    codes = {f.code for f in played.verdict.findings}
    assert {code for code in codes if not code.startswith("run.")} == set()
