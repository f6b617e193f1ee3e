"""What repeats in a recording, where only calls and failures are counted."""

from __future__ import annotations

import pytest

from harness.checks.loops import no_progress_stop
from tests.checks.histories import Story, codes, loop, tools_run, use


def test_a_recording_is_judged_by_the_counts() -> None:
    story = loop(Story(world="recording").turn("go"), "list", 3, content="no", error=True)
    found = list(no_progress_stop(story.end()))
    assert codes(found) == ["no_progress_stop.same_call", "no_progress_stop.same_failure"]
    assert found[0].events == tuple(tools_run(story))


def test_in_a_recording_one_new_result_of_equal_calls_does_not_matter_and_turns_do_not_part() -> (
    None
):
    story = loop(Story(world="recording").turn("go"), "list", 2, content="a")
    story.reply("x").final().turn("again")
    found = no_progress_stop(loop(story, "list", 1, content="c").end())
    assert codes(found) == ["no_progress_stop.same_call"]


@pytest.mark.parametrize(
    ("results", "found"),
    [
        (["1 passed", "2 passed", "3 passed"], []),
        (["running", "running", "done"], ["no_progress_stop.same_call"]),
        (["at 10:00:01", "at 10:00:02", "at 10:00:03"], ["no_progress_stop.same_call"]),
    ],
)
def test_in_a_recording_equal_calls_with_a_new_result_each_make_progress(
    results: list[str], found: list[str]
) -> None:
    story = Story(world="recording").turn("go")
    for text in results:
        story.reply(use("BashOutput", {"bash_id": "1"})).tool(text)
    assert codes(list(no_progress_stop(story.end()))) == found


def test_in_a_recording_a_call_that_fails_in_other_ways_makes_no_progress() -> None:
    story = Story(world="recording").turn("go")
    for text in ("no such file", "disk full", "busy"):
        story.reply(use("save")).tool(text, error=True)
    assert codes(list(no_progress_stop(story.end()))) == ["no_progress_stop.same_call"]


def test_in_a_recording_what_one_message_asks_for_again_is_one() -> None:
    story = Story(world="recording").turn("roll the dice three times")
    story.reply(use("list"), use("list"), use("list")).tool("4").tool("1").tool("4")
    assert not list(no_progress_stop(loop(story, "list", 1).end()))
    assert list(no_progress_stop(loop(story, "list", 1).end()))


def test_in_a_recording_calls_in_turn_are_a_cycle_of_messages_only() -> None:
    story = Story(world="recording").turn("go")
    story.reply(*(use(name) for name in ("list", "write") * 3))
    for _ in range(6):
        story.tool("the same")
    assert not list(no_progress_stop(story.reply("x").final().end()))

    story = Story(world="recording").turn("go")
    for _ in range(3):
        story.reply(use("list"), use("write")).tool("the same").tool("the same")
    assert codes(list(no_progress_stop(story.end()))) == ["no_progress_stop.cycle"]


def test_in_a_recording_a_batch_that_failed_with_its_first_call_is_no_loop() -> None:
    story = Story(world="recording").turn("go")
    story.reply(*(use("list", {"path": str(n)}) for n in range(7)))
    for _ in range(7):
        story.tool("Sibling tool call errored", error=True)
    assert not list(no_progress_stop(story.reply("x").final().end()))


def test_in_a_recording_each_tool_that_fails_alike_is_named() -> None:
    story = Story(world="recording").turn("go")
    for number, name in enumerate(("write", "list", "write")):
        story.reply(use(name, {"n": number})).tool("Permission denied", error=True)
    (finding,) = no_progress_stop(story.reply("x").final().end())
    assert finding.message == "write and list fail 3 times in a row in the same way"


def _in_turn(count: int, every: int = 99) -> Story:
    """A recording of two calls in turn, whose results change after a given number of."""
    story = Story(world="recording").turn("go")
    for number in range(count):
        loop(story, ("write", "list")[number % 2], 1, content=f"{number // every} done")
    return story


def test_in_a_recording_two_calls_in_turn_with_equal_results_are_a_cycle() -> None:
    assert not list(no_progress_stop(_in_turn(5).end()))
    story = _in_turn(7)
    (finding,) = no_progress_stop(story.end())
    assert (finding.code, finding.events) == ("no_progress_stop.cycle", tuple(tools_run(story)))
    says = "write and list: two calls in turn, 7 in a row, with the same inputs and results"
    assert finding.message == says


def test_in_a_recording_calls_in_turn_whose_results_change_are_no_cycle() -> None:
    assert not list(no_progress_stop(_in_turn(14, every=4).end()))
