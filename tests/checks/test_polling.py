"""A poller that pauses, and one that does not: the second is a loop."""

from __future__ import annotations

from typing import Any

import pytest

from harness import InboxItem, Scenario, ToolScript, ToolTurn, Turn, run
from harness.agent.naive_agent import agent as naive
from harness.checks.budgets import bounded_turn
from harness.checks.loops import no_progress_stop
from harness.core.values.plans import Wait
from tests.checks.histories import Story, codes, use


def _polled(pause_s: float, times: int = 6, **answer: Any) -> Story:
    story = Story().turn("Wait for the job.")
    for _ in range(times):
        story.reply(use("poll")).tool("pending", **answer)
        story.at_ms += int(pause_s * 1000)
    return story.reply(use("poll")).tool("done").reply("It is done.").final()


@pytest.mark.parametrize("pause_s", [5, 30, 600])
def test_a_poller_that_pauses_is_no_loop(pause_s: float) -> None:
    assert not list(no_progress_stop(_polled(pause_s).end()))


@pytest.mark.parametrize("pause_s", [0, 1])
def test_a_poller_without_a_pause_is_a_loop(pause_s: float) -> None:
    assert codes(no_progress_stop(_polled(pause_s).end())) == ["no_progress_stop.same_call"]


def test_a_failure_that_is_tried_again_with_a_pause_is_a_loop() -> None:
    found = codes(no_progress_stop(_polled(30, error=True).end()))
    assert "no_progress_stop.same_failure" in found


def test_a_slow_model_is_no_pause() -> None:
    story = Story().turn("Go.")
    for _ in range(6):
        story.reply(use("poll"), steps=(Wait(60_000),))
        story.at_ms += 60_000
        story.tool("pending")
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_call"]


def test_a_wait_before_a_retry_is_no_pause() -> None:
    story = Story().turn("Go.")
    for _ in range(6):
        story.reply(use("poll")).tool("pending").fail(529)
        story.at_ms += 60_000
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_call"]


def _sleeping(took_s: int) -> set[str]:
    """What is found of an agent whose model polls, and sleeps by a tool that takes so long."""
    schema = {"type": "object", "properties": {"seconds": {"type": "integer"}}}
    status = ToolScript(script=(ToolTurn(ok="pending", times=6), ToolTurn(ok="done")))
    sleep = ToolTurn(ok="", hang=took_s, times="forever")
    tools = {"status": status, "sleep": ToolScript(input_schema=schema, script=(sleep,))}
    steps = (Turn(use="status"), Turn(use="sleep", input={"seconds": 30})) * 6
    scenario = Scenario(
        name="sleeping",
        tools=tools,
        inbox=(InboxItem(text="Wait for the job."),),
        script=(*steps, Turn(use="status"), Turn(say="It is done.")),
    )
    found = run(scenario, naive).verdict.findings
    return {finding.code for finding in found if finding.class_ != "advice"}


def test_a_tool_that_sleeps_as_long_as_it_is_asked_to_is_a_pause() -> None:
    assert _sleeping(30) == set()


def test_a_tool_that_is_slow_is_no_pause() -> None:
    assert _sleeping(7) == {"no_progress_stop.cycle"}


def test_the_profile_may_name_tools_that_poll() -> None:
    history = _polled(0).end()
    assert not list(no_progress_stop(history, polls=("poll",)))
    assert list(no_progress_stop(history, polls=("list",)))


def test_polls_with_pauses_do_not_count_as_requests_of_a_turn() -> None:
    assert not list(bounded_turn(_polled(30, 70).end()))
    assert codes(bounded_turn(_polled(0, 70).end())) == ["bounded_turn.requests"]
