"""Turns that make no progress call by call, and turns that only look like it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.judge import judge
from harness.checks.loops import no_progress_stop
from tests.checks.histories import Story, codes, loop, tools_run, use


def test_the_fourth_equal_call_with_an_equal_result_is_reported() -> None:
    story = loop(Story().turn("go"), "list", 5, {"path": "a"})
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.same_call"
    assert finding.events == tuple(tools_run(story)[:4])


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
    assert finding.events == tuple(tools_run(story))


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
    assert finding.events == tuple(tools_run(story))


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


def test_what_the_model_did_between_is_a_step_also_when_the_agent_answered_it_itself() -> None:
    for other in (use("luck"), use("poll", "{}"), use("write")):
        story = loop(Story().turn("go"), "poll", 2).reply(other).refuse("not run")
        story = loop(story, "poll", 3).reply("x").final()
        assert not list(no_progress_stop(story.end()))


def test_refusing_the_call_that_repeats_and_running_it_again_is_no_stop() -> None:
    story = loop(Story().turn("go"), "poll", 3).reply(use("poll")).refuse()
    assert codes(no_progress_stop(loop(story, "poll", 1).end())) == ["no_progress_stop.same_call"]


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


WORDS = ("row", "disk", "lock", "node", "path", "key", "host", "port", "user")
WORDS += ("team", "room", "page", "line", "word", "name", "tag", "job")


def _failing(story: Story, texts: list[str], paths: list[str]) -> Story:
    for text, path in zip(texts, paths, strict=True):
        story.reply(use("list", {"path": path})).tool(text, error=True)
    return story


def test_one_call_that_fails_in_other_words_nine_times_is_reported() -> None:
    story = _failing(Story().turn("go"), WORDS[:9], ["a"] * 9)
    (finding,) = no_progress_stop(story.end())
    assert finding.code == "no_progress_stop.failing_call"
    assert finding.events == tuple(tools_run(story))
    assert not list(no_progress_stop(story.end(), failures=9))


def test_one_tool_that_fails_with_other_inputs_in_other_words_seventeen_times_is_reported() -> None:
    story = _failing(Story().turn("go"), WORDS, [str(n) for n in range(17)])
    assert codes(no_progress_stop(story.end())) == ["no_progress_stop.failing_tool"]


def test_a_success_between_failures_in_other_words_is_progress() -> None:
    story = Story().turn("go")
    for half in (WORDS[:8], WORDS[8:16]):
        _failing(story, half, ["a"] * 8)
        loop(story, "list", 1, {"path": "a"})
    assert not list(no_progress_stop(story.end()))


def test_a_tool_of_the_agents_own_that_says_the_same_again_and_again_is_no_progress() -> None:
    def said(text: str) -> Story:
        story = Story(seams=("model", "inbox", "outbox")).turn("go")
        for number in range(8):
            story.reply(use("status")).refuse(text.format(number))
        return story

    found = judge(said("shipped").end())
    assert "no_progress_stop.refusals" in codes(found.findings)
    assert "no_progress_stop" in judge(said("{} % done").end()).passed
    without = judge(Story(seams=("model", "inbox", "outbox")).turn("go").reply("Yes.").end())
    assert "no_progress_stop" in [each.check for each in without.not_applicable]
