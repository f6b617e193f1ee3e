"""Turns that go in a circle, of calls or of whole messages, and turns that only look like it."""

from __future__ import annotations

import pytest

from harness.checks.loops import no_progress_stop
from tests.checks.histories import Story, codes, loop, tools_run, use


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_circle_that_goes_on_is_reported(period: int) -> None:
    story = Story().turn("go")
    for number in range(3 * period + 1):
        loop(story, "list", 1, {"path": str(number % period)})
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.cycle"
    assert finding.events == tuple(tools_run(story))


def test_a_circle_that_ends_after_three_rounds_is_allowed() -> None:
    story = Story().turn("go")
    for number in range(6):
        loop(story, "list", 1, {"path": str(number % 2)})
    assert not list(no_progress_stop(story.reply("x").final().end()))


def test_a_circle_whose_results_change_is_progress() -> None:
    story = Story().turn("go")
    for number in range(12):
        loop(story, "list", 1, {"path": str(number % 2)}, content=str(number))
    assert not list(no_progress_stop(story.end()))


def _messages(times: int, changing: bool = False, calls: str = "abcdef") -> Story:
    story = Story().turn("go")
    for number in range(times):
        story.reply(*(use("list", {"path": path}) for path in calls))
        for path in calls:
            story.tool(f"{path} {number if changing else ''}")
    return story.reply("done").final()


def test_a_message_of_six_calls_that_comes_a_fourth_time_is_a_cycle() -> None:
    (finding,) = no_progress_stop(_messages(9).end())
    assert finding.code == "no_progress_stop.cycle"
    assert len(finding.events) == 4


def test_a_message_of_fewer_calls_is_reported_once() -> None:
    assert codes(no_progress_stop(_messages(9, calls="abc").end())) == ["no_progress_stop.cycle"]


def test_messages_that_bring_something_new_or_come_three_times_are_no_cycle() -> None:
    assert not list(no_progress_stop(_messages(9, changing=True).end()))
    assert not list(no_progress_stop(_messages(3).end()))


def test_a_circle_with_a_call_in_it_that_is_answered_without_running_is_one() -> None:
    story = Story().turn("go")
    for _ in range(4):
        loop(story, "poll", 1).reply(use("luck")).refuse("there is no such tool")
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.cycle"]


def test_calls_that_never_run_are_no_circle() -> None:
    story = Story().turn("go")
    for _ in range(6):
        story.reply(use("luck")).refuse().reply(use("chance")).refuse()
    assert not list(no_progress_stop(story.reply("x").final().end()))
