"""Turns that make no progress, and turns that only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.loops import no_progress_stop
from harness.core.events import Called
from tests.checks.histories import Story, codes, loop, use


def _tools(story: Story) -> list[int]:
    return [e.n for e in story.history.events if isinstance(e, Called) and e.seam == "tool"]


def test_the_fourth_equal_call_with_an_equal_result_is_reported() -> None:
    story = loop(Story().turn("go"), "list", 5, {"path": "a"})
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.same_call"
    assert finding.events == tuple(_tools(story)[:4])


def test_three_equal_calls_are_allowed() -> None:
    story = loop(Story().turn("go"), "list", 3, {"path": "a"}).reply("x").final()
    assert not list(no_progress_stop(story.end()))


def test_the_number_of_repeats_is_a_setting() -> None:
    history = loop(Story().turn("go"), "list", 4, {"path": "a"}).end()
    assert not list(no_progress_stop(history, repeats=4))
    assert list(no_progress_stop(history, repeats=2))


def test_polling_whose_results_change_is_progress() -> None:
    story = Story().turn("go")
    for number in range(12):
        loop(story, "poll", 1, content=f"{number} %")
    assert not list(no_progress_stop(story.end()))


def test_the_same_tool_with_other_inputs_and_results_is_progress() -> None:
    story = Story().turn("go")
    for number in range(8):
        loop(story, "list", 1, {"path": str(number)}, content=f"file {number}")
    assert not list(no_progress_stop(story.end()))


def test_a_new_turn_begins_anew() -> None:
    story = loop(Story().turn("go"), "list", 2).reply("x").final().turn("again")
    assert not list(no_progress_stop(loop(story, "list", 2).reply("x").final().end()))


def test_identical_calls_of_one_message_count_once() -> None:
    story = Story().turn("roll three dice")
    for _ in range(2):
        story.reply(use("poll"), use("poll"), use("poll")).tool("4").tool("4").tool("4")
    assert not list(no_progress_stop(story.end()))


def test_more_identical_calls_of_one_message_than_allowed_are_reported() -> None:
    story = Story().turn("go").reply(*[use("poll")] * 4).tool().tool().tool().tool()
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_call"]


def test_siblings_that_fail_with_the_first_are_one_failure() -> None:
    story = Story().turn("go").reply(*[use("list", {"path": str(i)}) for i in range(7)])
    for _ in range(7):
        story.tool("sibling tool call errored", error=True)
    assert not list(no_progress_stop(story.reply("x").final().end()))


def test_one_failure_with_other_inputs_is_reported() -> None:
    story = Story().turn("go")
    for number in range(4):
        loop(story, "write", 1, {"path": str(number)}, content="disk full", error=True)
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.same_failure"
    assert finding.events == tuple(_tools(story))


def test_one_call_that_failed_may_be_changed_and_tried_once() -> None:
    story = loop(Story().turn("go"), "write", 3, {"path": "a"}, content="full", error=True)
    loop(story, "write", 1, {"path": "b"}, content="full", error=True)
    assert not list(no_progress_stop(story.end()))


def test_a_changed_call_that_fails_alike_is_the_last() -> None:
    story = loop(Story().turn("go"), "write", 3, {"path": "a"}, content="full", error=True)
    loop(story, "write", 1, {"path": "b"}, content="full", error=True)
    loop(story, "write", 1, {"path": "c"}, content="full", error=True)
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.same_failure"
    assert finding.events == tuple(_tools(story))


def test_one_failure_whose_text_has_a_time_is_reported_for_equal_inputs() -> None:
    story = Story().turn("go")
    for number in range(4):
        loop(story, "list", 1, {"path": "a"}, content=f"12:00:0{number} no", error=True)
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_failure"]


def test_different_failures_are_progress() -> None:
    story = Story().turn("go")
    for number in range(6):
        value = {"path": str(number)}
        loop(story, "list", 1, value, content=f"no file {number}", error=True)
    assert not list(no_progress_stop(story.end()))


def test_a_success_between_failures_is_progress() -> None:
    story = Story().turn("go")
    for number in range(4):
        loop(story, "list", 2, content="no", error=True)
        loop(story, "list", 1, content=f"{number}")
    assert not list(no_progress_stop(story.end()))


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_circle_that_goes_on_is_reported(period: int) -> None:
    story = Story().turn("go")
    for number in range(3 * period + 1):
        loop(story, "list", 1, {"path": str(number % period)})
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.cycle"
    assert finding.events == tuple(_tools(story))


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


@pytest.mark.parametrize("empty", [{}, None, "", {"__unparsedToolInput": "{"}])
def test_empty_inputs_that_are_run_are_reported(empty: Any) -> None:
    story = Story().turn("go")
    for number in range(4):
        call = use("write")
        story.reply(type(call)("", "write", empty)).tool(f"missing {number}", input=empty)
    assert "no_progress_stop.empty_input" in codes(no_progress_stop(story.end()))


def test_a_message_without_an_empty_call_begins_the_count_anew() -> None:
    story = Story().turn("go")
    for number in range(3):
        loop(story, "write", 2, content=f"missing {number}")
        loop(story, "write", 1, {"path": str(number)})
    assert not list(no_progress_stop(story.end()))


def test_a_tool_that_needs_nothing_may_be_called_with_nothing() -> None:
    story = Story().turn("go")
    for number in range(10):
        loop(story, "poll", 1, content=str(number))
        loop(story, "list", 1, content=str(number))
    assert not list(no_progress_stop(story.end()))


def test_refusing_for_ever_is_no_progress_either() -> None:
    story = Story().turn("go")
    for number in range(8):
        story.reply(use("write")).refuse(f"refused {number}")
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.refusals"
    assert len(finding.events) == 7


def test_refusing_a_few_times_is_what_a_breaker_does() -> None:
    story = loop(Story().turn("go"), "list", 3)
    for _ in range(3):
        story.reply(use("list")).refuse()
    assert not list(no_progress_stop(story.reply("sorry").final(status="failed").end()))


def test_the_own_tool_of_an_agent_is_not_refused_while_its_results_change() -> None:
    story = Story().turn("go")
    for number in range(9):
        story.reply(use("todo")).refuse(f"item {number}")
    assert not list(no_progress_stop(story.end()))


def test_a_recording_is_judged_by_the_counts() -> None:
    story = loop(Story(world="recording").turn("go"), "list", 3, content="no", error=True)
    found = list(no_progress_stop(story.end()))
    assert codes(found) == ["no_progress_stop.same_call", "no_progress_stop.same_failure"]
    assert found[0].events == tuple(_tools(story))


def test_in_a_recording_results_of_equal_calls_do_not_matter_and_turns_do_not_part() -> None:
    story = loop(Story(world="recording").turn("go"), "list", 2, content="a")
    story.reply("x").final().turn("again")
    found = no_progress_stop(loop(story, "list", 1, content="c").end())
    assert codes(found) == ["no_progress_stop.same_call"]


def test_in_a_recording_what_one_message_asks_for_again_is_one() -> None:
    story = Story(world="recording").turn("roll the dice three times")
    story.reply(use("list"), use("list"), use("list")).tool("4").tool("1").tool("4")
    assert not list(no_progress_stop(loop(story, "list", 1).end()))
    assert list(no_progress_stop(loop(story, "list", 1).end()))


def test_in_a_recording_a_batch_that_failed_with_its_first_call_is_no_loop() -> None:
    story = Story(world="recording").turn("go")
    story.reply(*(use("list", {"path": str(n)}) for n in range(7)))
    for _ in range(7):
        story.tool("Sibling tool call errored", error=True)
    assert not list(no_progress_stop(story.reply("x").final().end()))


def test_a_recording_has_no_cycles_and_no_empty_inputs() -> None:
    story = Story(world="recording").turn("go")
    for number in range(14):
        loop(story, ("write", "list")[number % 2], 1)
    assert not list(no_progress_stop(story.end()))


def _messages(times: int, changing: bool = False, calls: str = "abcde") -> Story:
    story = Story().turn("go")
    for number in range(times):
        story.reply(*(use("list", {"path": path}) for path in calls))
        for path in calls:
            story.tool(f"{path} {number if changing else ''}")
    return story.reply("done").final()


def test_a_message_of_five_calls_that_comes_a_fourth_time_is_a_cycle() -> None:
    (finding,) = no_progress_stop(_messages(9).end())
    assert finding.code == "no_progress_stop.cycle"
    assert len(finding.events) == 4


def test_a_message_of_fewer_calls_is_reported_once() -> None:
    assert codes(no_progress_stop(_messages(9, calls="abc").end())) == ["no_progress_stop.cycle"]


def test_messages_that_bring_something_new_or_come_three_times_are_no_cycle() -> None:
    assert not list(no_progress_stop(_messages(9, changing=True).end()))
    assert not list(no_progress_stop(_messages(3).end()))


def test_what_the_model_did_between_is_a_step_also_when_the_agent_answered_it_itself() -> None:
    for other in (use("luck"), use("poll", "{}"), use("write")):
        story = loop(Story().turn("go"), "poll", 2).reply(other).refuse("not run")
        story = loop(story, "poll", 3).reply("x").final()
        assert not list(no_progress_stop(story.end()))


def test_refusing_the_call_that_repeats_and_running_it_again_is_no_stop() -> None:
    story = loop(Story().turn("go"), "poll", 3).reply(use("poll")).refuse()
    assert codes(no_progress_stop(loop(story, "poll", 1).end())) == ["no_progress_stop.same_call"]


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


def test_a_result_that_was_told_as_an_error_because_it_came_late_is_another() -> None:
    story = Story().turn("go").reply(use("poll")).tool("ok").told_as_error()
    story = loop(story, "poll", 3).reply("x").final()
    assert not list(no_progress_stop(story.end()))


def test_results_that_are_told_as_errors_again_and_again_are_equal() -> None:
    story = Story().turn("go")
    for _ in range(4):
        story.reply(use("poll")).tool("ok").told_as_error()
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_call"]


def test_a_kill_begins_the_count_anew() -> None:
    story = loop(Story().turn("go"), "list", 2).killed()
    assert not list(no_progress_stop(loop(story, "list", 3).reply("x").final().end()))
    killed = loop(loop(Story().turn("go"), "list", 2).killed(), "list", 4)
    assert codes(no_progress_stop(killed.end())) == ["no_progress_stop.same_call"]


def test_calls_of_one_message_that_count_once_still_stand_between_others() -> None:
    story = Story().turn("go").reply(*[use("poll")] * 6)
    for content in ("a", "b", "a", "b", "b", "b"):
        story.tool(content)
    assert not list(no_progress_stop(story.reply("x").final().end()))
    story = Story().turn("go").reply(*[use("poll")] * 7)
    for content in ("a", "b", "a", "b", "b", "b", "b"):
        story.tool(content)
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.same_call"]
