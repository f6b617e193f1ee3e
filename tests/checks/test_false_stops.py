"""Turns that are stopped although they get on, and turns that are stopped rightly."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.false_stops import no_false_stop
from harness.core.values.messages import Opaque, Text, ToolUse
from harness.core.values.plans import Jump, Sent, Wait
from tests.checks.histories import Story, codes, loop, use


def _poll(times: int) -> Story:
    story = Story().turn("go")
    for number in range(times):
        loop(story, "poll", 1, content=f"{number} %")
    return story


def test_a_polling_turn_that_is_refused_is_stopped_falsely() -> None:
    story = _poll(3).reply(use("poll")).refuse().reply("sorry")
    event = story.called
    (finding,) = no_false_stop(story.final(status="failed").end())
    assert (finding.code, finding.events) == ("no_false_stop.refused", (event,))


def test_who_never_looks_at_the_tools_of_the_scenario_refuses_none() -> None:
    """It runs its own tool that has the same name; the story shows no more of it."""
    story = Story().turn("go").reply(use("poll")).refuse("50 %").reply("done").final()
    assert codes(no_false_stop(story.end())) == ["no_false_stop.refused"]
    story = Story().turn("go").reply(use("poll")).refuse("50 %").reply("done").final()
    assert not list(no_false_stop(story.end(tools_untaken=True)))


def test_withdrawing_the_tools_of_a_polling_turn_is_a_false_stop() -> None:
    story = _poll(3).reply("sorry", tools=False)
    event = story.called
    (finding,) = no_false_stop(story.final(status="failed").end())
    assert (finding.code, finding.events) == ("no_false_stop.withdrawn", (event,))


def test_ending_a_polling_turn_in_the_middle_of_a_call_is_a_false_stop() -> None:
    story = _poll(3).reply(use("poll")).refuse().final("stopped", status="failed")
    event = story.called
    (finding,) = no_false_stop(story.end())
    assert (finding.code, finding.events) == ("no_false_stop.ended", (event,))


@pytest.mark.parametrize(("second", "found"), [("b", ["no_false_stop.ended"]), ("a", [])])
def test_an_answer_whose_calls_have_one_id_may_end_the_turn(second: str, found: list[str]) -> None:
    calls = use("poll", {"n": 1}, id="a"), use("poll", {"n": 2}, id=second)
    story = _poll(2).reply(*calls).final("The calls have one id.", status="failed")
    assert codes(no_false_stop(story.end())) == found


def test_different_tools_that_need_nothing_are_stopped_falsely() -> None:
    story = Story().turn("go")
    for name in ("poll", "list", "poll"):
        loop(story, name, 1, content=f"{name} {story.last}")
    story.reply(use("list")).refuse().reply("sorry")
    assert codes(no_false_stop(story.final().end())) == ["no_false_stop.refused"]


@pytest.mark.parametrize("answer", ["deny", "expired"])
@pytest.mark.parametrize(("times", "found"), [(2, True), (3, False)])
def test_calls_that_the_user_did_not_allow_are_a_reason_to_stop(
    answer: str, times: int, found: bool
) -> None:
    """A model asked for one call four times in one message, and the user answered none of them."""
    story = Story().turn("go").reply(*[use("poll") for _ in range(times + 1)])
    for _ in range(times):
        story.ask(answer).refuse("Not run: the user did not allow it.")
    story.refuse("Not run: the same call again.").reply("I stop.")
    assert bool(codes(no_false_stop(story.final(status="failed").end()))) == found


def test_a_polling_turn_that_runs_to_its_end_is_not_stopped() -> None:
    assert not list(no_false_stop(_poll(9).reply("done").final().end()))


def test_stopping_what_repeats_is_right() -> None:
    story = loop(Story().turn("go"), "list", 3).reply(use("list")).refuse()
    story.reply("sorry", tools=False).final(status="failed")
    assert not list(no_false_stop(story.end()))


def test_refusing_an_empty_input_is_right() -> None:
    story = Story().turn("go").reply(use("write")).refuse().reply("sorry").final()
    assert not list(no_false_stop(story.end()))


def test_an_end_is_told_with_the_clock_that_was_set_forward() -> None:
    steps = (Jump(86_400_000), Sent(1, 9))
    story = _poll(1).reply(use("poll"), steps=steps).final("No.", "failed", "error")
    (ended,) = no_false_stop(story.end())
    assert ended.message.endswith("a tool call, after the wall clock was set 86400 s forward")


def test_refusing_after_a_cancel_is_right() -> None:
    story = _poll(2).reply(use("poll")).cancel().refuse().reply("x").final(status="cancelled")
    assert not list(no_false_stop(story.end()))


def test_ending_a_turn_because_the_model_cannot_be_reached_is_right() -> None:
    story = _poll(2).fail(529).fail(529).final("no answer", "failed", "error")
    assert not list(no_false_stop(story.end()))


def _batches(times: int, changing: bool = False) -> Story:
    """Five calls in a message, over and over; then one more such message, refused."""
    story = Story().turn("go")
    calls = [use("list", {"path": path}) for path in "abcde"]
    for number in range(times):
        story.reply(*calls)
        for path in "abcde":
            story.tool(f"{path} {number if changing and path == 'c' else ''}")
    story.reply(*calls)
    for _ in calls:
        story.refuse()
    return story.reply("sorry", tools=False).final(status="failed")


def test_stopping_a_message_that_comes_again_and_again_is_right() -> None:
    assert not list(no_false_stop(_batches(3).end()))


def test_stopping_a_message_before_it_came_three_times_is_a_false_stop() -> None:
    assert codes(no_false_stop(_batches(2).end())) == ["no_false_stop.refused"]


def test_a_message_one_of_whose_results_changes_is_stopped_falsely() -> None:
    assert codes(no_false_stop(_batches(4, changing=True).end())) == ["no_false_stop.refused"]


def _results(*said: str) -> list[str]:
    """What is said of an agent that refuses one call after these results of it."""
    story = Story().turn("go")
    for text in said:
        story.reply(use("write", {"path": "/a"})).tool(text, error=text == "error")
    story.reply(use("write", {"path": "/a"})).refuse()
    return codes(no_false_stop(story.reply("x").final().end()))


def test_a_success_between_two_failures_begins_the_row_anew() -> None:
    assert _results("error", "error", "error") == []
    assert _results("error", "found", "error", "error", "error") == []
    assert _results("error", "found", "error", "error") == ["no_false_stop.refused"]
    assert "in a row" in str(no_false_stop.__doc__)


def _unknown(times: int) -> Story:
    story = Story().turn("go")
    for _ in range(times):
        story.reply(use("luck")).refuse("there is no such tool")
    return story.reply("sorry", tools=False).final(status="failed")


def test_withdrawing_tools_from_a_model_that_wants_one_that_is_not_there_is_right() -> None:
    assert not list(no_false_stop(_unknown(3).end()))


def test_withdrawing_tools_after_many_slips_in_one_answer_is_right() -> None:
    story = Story().turn("go").reply(*[use("luck")] * 4)
    for _ in range(4):
        story.refuse("there is no such tool")
    assert not list(no_false_stop(story.reply("sorry", tools=False).final().end()))


def test_withdrawing_tools_after_two_slips_is_a_false_stop() -> None:
    assert codes(no_false_stop(_unknown(2).end())) == ["no_false_stop.withdrawn"]


def test_stopping_a_tool_that_is_called_empty_between_harmless_calls_is_right() -> None:
    story = Story().turn("go")
    for number in range(3):
        story.reply(use("write", {})).refuse()
        loop(story, "poll", 1, content=f"{number} %")
    story.reply("sorry", tools=False)
    assert codes(no_false_stop(story.final(status="failed").end())) == []


def test_a_whole_call_clears_what_was_empty_before() -> None:
    story = Story().turn("go").reply(use("write", {})).refuse().reply(use("write", {})).refuse()
    loop(story, "write", 1, {"path": "a"}, content="written")
    story.reply(use("write", {})).refuse().reply("sorry", tools=False)
    found = codes(no_false_stop(story.final(status="failed").end()))
    assert found == ["no_false_stop.withdrawn"]


def test_the_request_at_the_bound_may_withdraw_the_tools_and_no_earlier_one() -> None:
    assert not list(no_false_stop(_poll(49).reply("sorry", tools=False).final().end()))
    early = no_false_stop(_poll(47).reply("sorry", tools=False).final().end())
    assert codes(early) == ["no_false_stop.withdrawn"]


def test_a_turn_that_paused_again_and_again_may_be_ended() -> None:
    def paused(times: int) -> Story:
        story = _poll(1)
        for _ in range(times):
            story.reply("searching", stop="pause_turn")
        return story.reply("sorry", tools=False).final()

    assert not list(no_false_stop(paused(3).end()))
    assert codes(no_false_stop(paused(2).end())) == ["no_false_stop.withdrawn"]


def test_a_call_whose_arguments_are_no_object_asks_for_nothing_that_could_run() -> None:
    story = _poll(1).reply(use("poll", '{"a"')).final("stopped", status="failed")
    assert not list(no_false_stop(story.end()))


def test_a_turn_whose_budget_may_be_spent_is_stopped_rightly() -> None:
    def stopped(tokens: int = 0, said: int = 0, hours: int = 0) -> list[str]:
        story = _poll(1).wait(hours * 3_600_000)
        story.reply(use("poll"), tokens=tokens, usage={"output_tokens": said})
        return codes(no_false_stop(story.final("stopped", status="failed").end()))

    assert stopped(tokens=999_999) == ["no_false_stop.ended"]
    assert stopped(tokens=600_000, said=400_000) == []
    assert stopped(hours=3) == ["no_false_stop.ended"]
    assert stopped(hours=4) == []
    slept = _poll(1).reply(use("poll")).wait(4 * 3_600_000).final("stopped", status="limit")
    assert not list(no_false_stop(slept.end())), "the machine slept behind the last answer"


def test_the_time_that_an_answer_takes_counts_for_the_budget() -> None:
    def stopped(*steps: str) -> list[str]:
        story = _poll(1).reply(use("poll"), steps=steps)
        return codes(no_false_stop(story.final("stopped", status="failed").end()))

    assert stopped(Wait(14_399_000)) == []
    assert stopped(Wait(11_000_000)) == ["no_false_stop.ended"]


def test_a_tool_that_failed_again_and_again_may_be_stopped_whatever_others_did_between() -> None:
    story = Story().turn("go")
    for number in range(3):
        loop(story, "poll", 1, content=f"broken {number}", error=True)
        loop(story, "list", 1, content=f"{number} files")
    refused = story.reply(use("poll")).refuse().reply("sorry").final(status="failed").end()
    assert not list(no_false_stop(refused))
    twice = Story().turn("go")
    for number in range(2):
        loop(twice, "poll", 1, content=f"broken {number}", error=True)
        loop(twice, "list", 1, content=f"{number} files")
    twice.reply(use("poll")).refuse().reply("sorry").final(status="failed")
    assert codes(no_false_stop(twice.end())) == ["no_false_stop.refused"]


def _refused_after(*contents: Any) -> list[str]:
    """The codes when a poller with these results is refused its next call."""
    story = Story().turn("go")
    for content in contents:
        loop(story, "poll", 1, content=content)
    story.reply(use("poll")).refuse().reply("sorry").final(status="failed")
    return codes(no_false_stop(story.end()))


def test_results_that_say_nothing_are_alike_whatever_they_are_made_of() -> None:
    assert _refused_after("", (), (Text(" "),)) == []
    assert _refused_after("", (), "50 %") == ["no_false_stop.refused"]
    assert _refused_after("", (), (Opaque("image", {"type": "image"}),)) == [
        "no_false_stop.refused"
    ]


def test_stopping_a_tool_that_is_called_with_no_object_again_and_again_is_right() -> None:
    def withdrawn(times: int) -> list[str]:
        story = Story().turn("go")
        for number in range(times):
            story.reply(use("poll", f"{number}")).refuse()
        story.reply("sorry", tools=False).final(status="failed")
        return codes(no_false_stop(story.end()))

    assert withdrawn(3) == []
    assert withdrawn(2) == ["no_false_stop.withdrawn"]


def test_a_refusal_for_size_that_is_dressed_as_a_message_is_no_call_to_run() -> None:
    def ended(*, too_large: bool) -> list[str]:
        story = Story().turn("go").reply("Prompt is too long", use("list"), too_large=too_large)
        return codes(no_false_stop(story.final("Too long.", status="failed").end()))

    assert ended(too_large=True) == []
    assert ended(too_large=False) == ["no_false_stop.ended"]


def test_a_refusal_that_a_later_run_shows_takes_no_other_finding_away() -> None:
    """That an agent takes the tools shows only when one of them runs."""
    story = Story().turn("go").reply(use("list", {"path": "a"})).refuse()
    ended = story.reply(use("list", {"path": "b"})).final("done").last - 1
    before = set(no_false_stop(story.history))
    assert {finding.events for finding in before} == {(ended,)}
    story.turn("more").reply(use("list", {"path": "c"})).tool().reply("x").final()
    after = set(no_false_stop(story.end()))
    assert before < after
    assert "no_false_stop.refused" in {finding.code for finding in after}


def test_what_comes_after_a_final_does_not_excuse_it() -> None:
    """Neither a result that is sent later, nor a later final that says the input of the call."""
    story = Story().turn("go")
    for _ in range(3):
        story.reply(use("list", {"path": "a"})).refuse()
    story.final("done")
    before = set(no_false_stop(story.history))
    assert codes(before) == ["no_false_stop.ended"]
    story.reply("bye").final()
    assert before <= set(no_false_stop(story.end()))


def test_a_later_final_that_says_the_input_excuses_no_earlier_one() -> None:
    story = Story().turn("go").reply(use("list", {"path": "a"})).tool()
    tools = story.history.value([{"name": "answer", "description": "", "input_schema": {}}])
    story.reply(use("answer", {"text": "It is blue."}), request={"tools": tools}).final("done")
    before = set(no_false_stop(story.history))
    assert codes(before) == ["no_false_stop.ended"]
    story.final("It is blue.")
    assert before <= set(no_false_stop(story.end()))


def test_results_that_the_model_read_alike_repeat_however_a_tool_wrote_them() -> None:
    assert _refused_after("ok", (Text("ok"),), "ok") == []
    assert _refused_after("ok", (Text("ok"),), "9 ok") == ["no_false_stop.refused"]


@pytest.mark.parametrize(
    ("fault", "found"), [("sse.usage_huge", []), ("sse.ping_flood", ["no_false_stop.refused"])]
)
def test_a_count_that_a_fault_wrote_may_end_an_agents_own_budget(
    fault: str, found: list[str]
) -> None:
    story = Story().turn("go").reply(use("list"), faults=(fault,)).tool()
    story.reply(use("poll")).refuse().reply("sorry").final(status="failed")
    assert codes(no_false_stop(story.reply(use("poll")).tool().end())) == found


def test_a_hint_beside_a_result_takes_nothing_from_a_repetition() -> None:
    story = Story().turn("go")
    for number, content in enumerate(["ok", (Text("ok"),), "ok"]):
        loop(story, "poll", 1, content=content)
        story.told(f"ok [call {'abc'[number]}]")
    story.reply(use("poll")).refuse().reply("sorry").final(status="failed")
    assert codes(no_false_stop(story.end())) == []


def test_calls_that_cannot_be_run_are_failures_in_a_row_whatever_they_name() -> None:
    def ended(*calls: Any) -> list[str]:
        story = Story().turn("go")
        for call in calls:
            story.reply(call).refuse("this call was not run")
        story.final("I stopped.", status="failed")
        return codes(no_false_stop(story.end()))

    slips = (use("luck"), use("luck"), use("write", {}))
    assert ended(*slips) == []
    assert ended(*slips[1:]) == ["no_false_stop.ended"]
    assert ended(*slips[1:], use("poll")) == ["no_false_stop.ended"]


def test_a_count_in_a_stream_that_a_fault_bent_may_end_an_agents_own_budget() -> None:
    def ended(tokens: int) -> list[str]:
        usage = {"input_tokens": 1, "output_tokens": tokens}
        story = Story().turn("go").reply(use("poll"), usage=usage, faults=("sse.comment_flood",))
        return codes(no_false_stop(story.final("My budget is spent.", status="failed").end()))

    assert ended(3_000_000) == []
    assert ended(30) == ["no_false_stop.ended"]


@pytest.mark.parametrize("killed", [True, False])
def test_a_call_that_a_kill_took_may_be_refused_in_a_later_turn(killed: bool) -> None:
    story = Story().turn("go").reply(use("poll"), use("list")).tool("a", error=True)
    story = story.killed() if killed else story
    story.refuse("interrupted").final("Interrupted.", status="failed", kind="error")
    story.turn("and now?").reply("well", use("list")).tool("a, b").reply("done").final()
    assert codes(no_false_stop(story.end())) == ([] if killed else ["no_false_stop.refused"])


def test_a_call_that_gets_the_error_of_a_call_beside_it_is_told_as_that() -> None:
    story = Story().turn("go").reply(use("poll"), use("list")).tool("no disk", error=True)
    story.refuse("no disk").reply("x").final().turn("and now?").reply(use("list")).tool("a, b")
    (finding,) = no_false_stop(story.reply("done").final().end())
    assert (
        finding.message
        == "the call of list in main/model#1 never runs, and gets the error of a call beside it"
    )


def test_an_empty_text_is_a_whole_input_where_none_is_needed() -> None:
    for tool, wanted in (("poll", ["no_false_stop.refused"]), ("write", [])):
        story = Story().turn("go").reply(ToolUse("c1", tool, "")).refuse("Not valid JSON.")
        assert codes(no_false_stop(story.reply("sorry").final().end())) == wanted
