"""Turns keep apart, and are over when the user takes them back."""

from __future__ import annotations

from harness.checks.turns import cancel_honoured, turn_serial
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes, use

TWO = [user("one\n\ntwo")]


def _end(story: Story, name: str, text: str) -> Story:
    """An end that says which message it answers."""
    story._name = name
    return story.say(text)


def test_two_turns_at_once_are_reported() -> None:
    story = Story().turn("one").turn("two").reply("1", messages=[user("one")])
    first = story.called
    story.reply("2", messages=TWO)
    second = story.called
    _end(story, "m1", "1")
    last = story.called
    (finding,) = turn_serial(_end(story, "m2", "2").end())
    assert (finding.code, finding.events) == ("turn_serial.overlap", (first, second, last))


def test_messages_that_wait_in_a_queue_are_no_overlap() -> None:
    story = Story().turn("one").turn("two").reply("1", messages=[user("one")])
    _end(story, "m1", "1").reply("2", messages=[user("one"), assistant("1"), user("two")])
    assert not list(turn_serial(_end(story, "m2", "2").end()))


def test_one_request_for_several_messages_is_no_overlap() -> None:
    story = Story().turn("one").turn("two").reply("both", messages=TWO)
    _end(story, "m1", "both")
    assert not list(turn_serial(_end(story, "m2", "both").end()))


def test_a_message_that_is_handed_out_again_does_not_overlap_with_itself() -> None:
    story = Story().turn("one").reply(use("list"), messages=[user("one")])
    story.turn("one", "m1").reply("1", messages=[user("one")])
    assert not list(turn_serial(_end(story, "m1", "1").end()))


def test_one_turn_after_the_other_is_no_overlap() -> None:
    story = Story().turn("one").reply("1").final().turn("two").reply("2").final()
    assert not list(turn_serial(story.end()))


def test_a_reply_that_names_no_message_is_no_evidence() -> None:
    story = Story().turn("one").turn("two").reply("1", messages=[user("one")])
    _end(story.reply("2", messages=TWO), "", "1")
    assert not list(turn_serial(_end(story, "m2", "2").end()))


def test_a_request_after_the_cancel_is_reported() -> None:
    story = Story().turn("one").reply(use("list")).tool().cancel()
    cancelled = story.last
    (finding,) = cancel_honoured(story.reply("x").end())
    assert finding.code == "cancel_honoured.request"
    assert finding.events == (cancelled, story.called)


def test_a_tool_after_the_cancel_is_reported() -> None:
    story = Story().turn("one").reply(use("list")).cancel().tool()
    assert codes(cancel_honoured(story.end())) == ["cancel_honoured.tool"]


def test_what_was_under_way_and_the_next_turn_are_fine() -> None:
    story = Story().turn("one").reply(use("list")).tool().cancel()
    story.say("stopped", "notice", "cancelled").turn("two").reply("2").final()
    assert not list(cancel_honoured(story.end()))


def test_a_cancel_after_the_end_has_nothing_to_stop() -> None:
    story = Story().turn("one").reply("1").final().cancel().turn("two").reply("2").final()
    assert not list(cancel_honoured(story.end()))
