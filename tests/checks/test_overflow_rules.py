"""The rules about a prompt that is too long: what a compaction leaves, what is shown again, what
only looks like an answer, and what is not worth storing."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.conversation import history_faithful
from harness.checks.message_delivery import outbound_once
from harness.checks.prompt_size import compaction_progress
from harness.checks.stored_session import reload_equivalence
from harness.checks.truthfulness import truthful_outcome
from harness.core.values.messages import Message, Text, ToolResult, ToolUse, assistant, user
from harness.core.values.plans import Close
from tests.checks.histories import Story, codes

NOTHING = {"input_tokens": 0, "output_tokens": 0}


def _compacted(after: int, summary: str = "sum", status: int = 400) -> list[Any]:
    story = Story().turn("go").fail(status, tokens=100)
    before = story.called
    story.reply(summary, purpose="compact")
    compacted = story.called
    story.reply("x", messages=[user("sum")], tokens=after)
    events = (before, compacted, story.called)
    return [(f.code, f.events == events) for f in compaction_progress(story.end())]


@pytest.mark.parametrize("after", [100, 140])
def test_what_replaces_a_refused_prompt_is_smaller(after: int) -> None:
    assert _compacted(after) == [("compaction_progress.larger", True)]


def test_a_smaller_prompt_is_fine_and_so_is_what_follows_a_failed_compaction() -> None:
    assert _compacted(99) == []
    assert _compacted(140, summary=" ") == []


def test_a_compaction_in_good_time_may_be_followed_by_more() -> None:
    assert _compacted(140, status=529) == []


def _shown(first: str, second: str, **failed: Any) -> list[str]:
    story = Story().turn("go")
    story.reply(first, **failed).say(first, kind="partial")
    story.reply(second, messages=[user("go"), user("!")]).say(second, kind="partial")
    return codes(outbound_once(story.final().end()))


@pytest.mark.parametrize(
    "failed",
    [
        {"stop": "model_context_window_exceeded"},
        {"complete": False, "outcome": "error"},
        {"stop": "max_tokens"},
    ],
)
def test_what_was_shown_of_a_failed_answer_is_not_shown_again(failed: dict[str, Any]) -> None:
    assert _shown("Day four", "Day four is free", **failed) == ["outbound_once.repeated"]


def test_parts_that_go_on_or_belong_to_whole_answers_are_fine() -> None:
    assert _shown("Day four", " is free", stop="max_tokens") == []
    assert _shown("Well. ", "Well. Yes.") == []
    assert _shown(" ", " so", stop="max_tokens") == []


@pytest.mark.parametrize("text", ["Prompt is too long", "API Error: 400 {}"])
def test_an_error_in_the_clothes_of_an_answer_is_no_success(text: str) -> None:
    story = Story().turn("go").reply(text, usage=NOTHING)
    asked = story.called
    (finding,) = truthful_outcome(story.final().end())
    assert finding.code == "truthful_outcome.synthetic"
    assert finding.events == (asked, story.called)


@pytest.mark.parametrize(
    ("text", "usage"),
    [
        ("Prompt is too long", {}),
        ("Prompt is too long", {**NOTHING, "output_tokens": 5}),
        ("It said: prompt is too long", NOTHING),
    ],
)
def test_an_answer_that_quotes_an_error_is_an_answer(text: str, usage: dict[str, int]) -> None:
    assert not list(truthful_outcome(Story().turn("go").reply(text, usage=usage).final().end()))


def test_a_blank_message_is_not_stored() -> None:
    story = Story(stores=False).turn(" ").row(user(" "), labels=["m1"]).say("empty", kind="error")
    (finding,) = reload_equivalence(story.end())
    assert finding.code == "reload_equivalence.blank"
    assert finding.events[-1] == finding.events[1] > finding.events[0]


def test_a_blank_row_counts_without_a_label_too() -> None:
    story = Story(stores=False).turn("\n").row(user("\n")).say("empty", kind="error")
    assert codes(reload_equivalence(story.end())) == ["reload_equivalence.blank"]


def test_a_notice_about_a_blank_message_may_be_stored() -> None:
    story = Story(stores=False).turn(" ").row(assistant("It was empty.")).say("x", kind="error")
    assert not list(reload_equivalence(story.end()))


def _summary_used(words: str, **reply: Any) -> list[str]:
    story = (
        Story().turn("go").fail(400, tokens=100).reply("Four people", purpose="compact", **reply)
    )
    story.reply("x", messages=[user(words)], tokens=10)
    return codes(compaction_progress(story.final().end()))


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "model_context_window_exceeded"])
def test_a_summary_that_was_cut_off_is_not_used(stop: str) -> None:
    assert _summary_used("Summary: Four people", stop=stop) == ["compaction_progress.unusable"]
    assert _summary_used("go, something was left out", stop=stop) == []


def test_an_older_summary_may_begin_as_one_that_was_cut_off() -> None:
    old = user("Four people met.")
    story = Story().turn("go").reply("x", messages=[old, user("go")]).final().turn("on")
    story.fail(400, tokens=100, messages=[old, assistant("x"), user("on")])
    story.reply("Four", purpose="compact", stop="max_tokens")
    story.reply("y", messages=[old, user("on")], tokens=10)
    assert codes(compaction_progress(story.final().end())) == []


def test_an_excerpt_of_the_past_may_have_the_words_of_a_refused_summary() -> None:
    """The model has begun an earlier answer with the same words."""
    past = [user("Who came?"), assistant("First, you")]
    story = Story().turn("go").fail(400, tokens=100, messages=[*past, user("go")])
    story.reply(
        "First, you", purpose="compact", stop="refusal", messages=[user("Who came? First, you")]
    )
    story.reply("x", messages=[user("(excerpt) ... came? First, you"), user("go")], tokens=10)
    assert codes(compaction_progress(story.final().end())) == []


def test_a_cut_summary_may_be_gone_on_with() -> None:
    asked = [user("Who came?"), assistant("Ada."), user("Summarise.")]
    story = Story().turn("go").fail(400, tokens=100, messages=[*asked[:2], user("go")])
    story.reply("Four people", purpose="compact", stop="max_tokens", messages=asked)
    story.reply("met.", messages=[*asked, assistant("Four people"), user("Go on.")], tokens=10)
    assert codes(compaction_progress(story.final().end())) == []


def test_a_whole_summary_is_used() -> None:
    assert _summary_used("Summary: Four people") == []


def _next_turn(summary: str, *past: Any, complete: bool = True) -> list[str]:
    story = Story(stores=False).turn("one").reply("1").final().turn("two").fail(400)
    story.reply(summary, purpose="compact", complete=complete)
    story.reply("2", messages=[user("two")]).final()
    story.turn("three").reply("3", messages=[*past, assistant("2"), user("three")])
    return codes(history_faithful(story.final().end()))


def test_a_failed_compaction_does_not_cost_the_next_turn_its_past() -> None:
    assert _next_turn(" ", user("!")) == ["history_faithful.forgotten_past"]
    assert _next_turn(" ", user("(2 earlier messages are left out.)")) == []
    assert _next_turn(" ", user("one"), assistant("1")) == []
    assert _next_turn("They counted.", user("They counted.")) == []


def test_a_past_that_is_refused_once_more_when_it_is_shorter_may_go() -> None:
    story = Story(stores=False).turn("one").reply("1").final().turn("two").fail(413, tokens=900)
    story.fail(400, purpose="compact")
    story.fail(413, messages=[assistant("1"), user("two")], tokens=500)
    story.reply("2", messages=[user("two")], tokens=100).final()
    story.turn("three").reply("3", messages=[assistant("2"), user("three")]).final()
    assert codes(history_faithful(story.end())) == []


def test_a_summary_that_only_another_client_can_read_is_a_past() -> None:
    forgotten = ["history_faithful.forgotten_past"]
    assert _next_turn("They counted.", user("!"), complete=False) == forgotten
    assert _next_turn("They counted.", user("They counted."), complete=False) == []


@pytest.mark.parametrize("beside", [(), (assistant("1"),)])
def test_no_past_fits_beside_a_message_that_is_too_large_alone(beside: Any) -> None:
    story = Story(stores=False).turn("one").reply("1").final().turn("two").fail(400)
    story.reply(" ", purpose="compact")
    story.fail(400, "V23", refused=("V23",), messages=[user("one"), *beside, user("two")])
    story.reply("2", messages=[user("tw")]).final()
    story.turn("three").reply("3", messages=[user("tw"), assistant("2"), user("three")])
    found = "history_faithful.forgotten_past" in codes(history_faithful(story.final().end()))
    assert found == bool(beside)


def test_texts_around_a_call_are_known_again_each_for_itself() -> None:
    around = Message("assistant", (Text("Yes."), ToolUse("c1", "ping", {}), Text("Done.")))
    answered = Message("user", (ToolResult("c1", "pong"), Text("two")))
    past = (user("one"), around, answered)
    story = Story(stores=False).turn("two").fail(400, messages=past)
    story.reply(" ", purpose="compact").reply("2", messages=[user("two")]).final()
    story.turn("three").reply("3", messages=[*past, assistant("2"), user("three")])
    assert codes(history_faithful(story.final().end())) == []


def test_a_past_that_is_cut_short_stands_in_a_transcript() -> None:
    said = "We begin in the old town, and end at the harbour."
    story = Story(stores=False).turn("one").reply(said).final().turn("two").fail(400)
    story.reply(" ", purpose="compact").reply("Then we sail.", messages=[user("two")]).final()
    forgets = f"Before: the user: one; you: {said[:30]} [cut] three"
    knows = f"Before: the user: one; you: {said[:30]} [cut]; you: Then we sail. three"
    story.turn("three").reply("3", messages=[user(knows)]).final()
    assert codes(history_faithful(story.history)) == []
    story.turn("four").reply("4", messages=[user(forgets)])
    found = codes(history_faithful(story.final().end()))
    assert found == ["history_faithful.forgotten_reply"]


def test_a_summary_before_the_reply_goes_out_may_hold_the_reply() -> None:
    def found(*, late: bool) -> list[str]:
        story = Story(stores=False).turn("one").reply("We sail at ten.")
        if late:
            story.reply("They asked, and sail.", purpose="compact")
        story.final().turn("two")
        story.reply("2", messages=[user("They asked, and sail."), user("two")]).final()
        return codes(history_faithful(story.end()))

    assert found(late=True) == []
    assert "history_faithful.forgotten_reply" in found(late=False)


def test_what_nobody_can_make_fit_is_no_past_that_was_forgotten() -> None:
    def next_turn(*, fits: bool, status: str = "ok", broken: bool = False) -> list[str]:
        story = Story(stores=False).turn("one").reply("1").final(status=status)
        close = {"steps": (Close(),), "faults": ("transport.answered_before_read",)}
        story.turn("two").fail(400).reply(" ", purpose="compact")
        if fits:
            story.reply("2", messages=[user("two")]).final()
        else:
            refused = {"status": 413, **close} if broken else {"error": "V23", "refused": ("V23",)}
            story.fail(messages=[user("two")], **refused).final("Too long.", "x")
        return codes(history_faithful(story.turn("three").reply("3", messages=[user("!")]).end()))

    assert "history_faithful.forgotten_past" in next_turn(fits=True)
    assert "history_faithful.forgotten_past" not in next_turn(fits=False)
    assert "history_faithful.forgotten_past" not in next_turn(fits=False, broken=True)
    assert "history_faithful.forgotten_past" not in next_turn(fits=True, status="failed")
