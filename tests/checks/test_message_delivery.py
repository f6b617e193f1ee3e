"""Messages in and out: each once, in its own turn.

Turns keep apart, and are over when the user takes them back.
"""

from __future__ import annotations

import html
import json

import pytest

from harness.checks.cancels import cancel_honoured
from harness.checks.message_delivery import (
    inbound_exactly_once,
    outbound_once,
    turn_serial,
)
from harness.core.values.messages import Message, Text, assistant, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes, use

NO_STORE = tuple(seam for seam in ALL_SEAMS if seam != "store")


def test_each_message_in_its_own_turn_is_fine() -> None:
    history = Story().turn("one").reply("1").final().turn("two").reply("2").final().end()
    assert not list(inbound_exactly_once(history))
    assert not list(outbound_once(history))


def test_a_message_that_the_model_never_gets_is_lost() -> None:
    story = Story().turn("one").reply("1", messages=[user("other")])
    (finding,) = inbound_exactly_once(story.history)
    assert finding.code == "inbound_exactly_once.lost"
    assert finding.events[-1] == story.called


def test_a_message_that_nobody_answers_is_lost() -> None:
    story = Story(seams=NO_STORE).turn("one").turn("two").reply("2").final()
    found = list(inbound_exactly_once(story.end()))
    assert codes(found) == ["inbound_exactly_once.lost"]


WRITTEN = (
    """Où est <b>le café</b> & "Mia"?
  - today, at 10
  - tomorrow
"""
    + "The house with the green door is near the old harbour. " * 5
)
"""Two lines with an indentation, signs, accents, capitals, and over 200 characters."""


def _read(said: str, sent: str) -> list[str]:
    story = Story(seams=NO_STORE).turn(said).reply("1", messages=[user(sent)])
    return codes(inbound_exactly_once(story.final().end()))


@pytest.mark.parametrize(
    ("rule", "sent"),
    [
        ("white_space", " ".join(WRITTEN.split())),
        ("white_space", "\n".join(line.strip() for line in WRITTEN.splitlines())),
        ("white_space", "".join(line.strip() for line in WRITTEN.splitlines())),
        ("changed", WRITTEN.lower()),
        ("changed", html.escape(WRITTEN)),
        ("changed", WRITTEN.replace("é", "e").replace("ù", "u")),
        ("changed", WRITTEN[:200]),
        ("changed", WRITTEN.splitlines()[0]),
        ("changed", WRITTEN.splitlines()[-1]),
        ("changed", WRITTEN.replace("today, ", "")),
        ("lost", "What is the time in Oslo?"),
    ],
)
def test_a_message_that_is_changed_on_its_way_is_red(rule: str, sent: str) -> None:
    assert _read(WRITTEN, sent) == [f"inbound_exactly_once.{rule}"]


@pytest.mark.parametrize(
    "sent",
    [
        WRITTEN.strip(),
        WRITTEN.replace("\n", "\r\n"),
        f"<message>\n{WRITTEN}</message>",
        json.dumps({"from": "Mia", "text": WRITTEN}, ensure_ascii=False),
        f"[10:04] Mia: {WRITTEN}\n\nThe time is 10:04.",
        WRITTEN.replace("10\n", "10  \n"),
    ],
)
def test_a_message_may_stand_among_other_words(sent: str) -> None:
    assert _read(WRITTEN, sent) == []


def test_half_a_character_may_be_read_as_a_mark() -> None:
    assert _read("PNG\\udcff of a cat", "PNG? of a cat") == []
    assert _read("PNG of a cat", "PN? of a cat") == ["inbound_exactly_once.changed"]


def test_the_message_of_the_turn_before_is_no_writing_of_this_one() -> None:
    story = Story(seams=NO_STORE).turn("Read the file 1.").reply("1").final()
    story.turn("Read the file 2.").reply("2", messages=[user("Read the file 1.")])
    assert codes(inbound_exactly_once(story.final().end())) == [
        "inbound_exactly_once.lost",
        "inbound_exactly_once.twice",
    ]


def test_a_message_behind_an_older_one_is_out_of_order() -> None:
    messages = [user("two"), assistant("1"), user("one")]
    story = Story(seams=NO_STORE).turn("two").reply("1", messages=messages)
    assert codes(inbound_exactly_once(story.end())) == ["inbound_exactly_once.order"]


def test_an_answered_message_that_comes_again_as_new_is_reported() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("1").final().turn("two")
    story.reply("2", messages=[user("one\n\ntwo")])
    (finding,) = inbound_exactly_once(story.end())
    assert finding.code == "inbound_exactly_once.twice"
    assert len(finding.events) == 3


def test_a_message_with_an_empty_reply_may_stay_in_the_history() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("").final("").turn("two")
    story.reply("2", messages=[user("one\n\ntwo")])
    assert not list(inbound_exactly_once(story.end()))


def test_a_message_that_was_never_answered_may_come_with_the_next() -> None:
    story = Story(seams=NO_STORE).turn("one").fail(529).turn("two")
    assert not list(inbound_exactly_once(story.reply("2", messages=[user("one\n\ntwo")]).end()))


def test_a_message_that_repeats_the_last_one_is_new() -> None:
    story = Story().turn("go on").reply("1").final().turn("go on").reply("2").final()
    assert not list(inbound_exactly_once(story.end()))


def test_a_message_with_a_wrapping_is_still_the_message() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("1", messages=[user("<at 12:00>\none")])
    assert not list(inbound_exactly_once(story.final().end()))


def test_a_message_that_starts_two_turns_is_reported() -> None:
    story = Story(seams=NO_STORE).turn("one", "m1").reply("1").final().turn("one", "m1").reply("1")
    assert codes(inbound_exactly_once(story.end())) == ["inbound_exactly_once.twice"]


def test_a_message_may_be_taken_up_again_after_a_kill() -> None:
    story = Story(seams=NO_STORE).turn("one", "m1").reply("1").killed().take("one", "m1").reply("1")
    assert not list(inbound_exactly_once(story.final().end()))


def test_a_kill_lets_a_message_begin_again_once_and_not_for_ever() -> None:
    """Incident 153: after one kill two loops gave different answers to one message."""
    story = Story(seams=NO_STORE).turn("one", "m1").reply("1").killed().take("one", "m1").reply("1")
    twice = story.final().take("one", "m1").reply("another").final().end()
    assert codes(inbound_exactly_once(twice)) == ["inbound_exactly_once.twice"]
    again = Story(seams=NO_STORE).turn("one", "m1").reply("1").killed().take("one", "m1")
    again.reply("1").killed().take("one", "m1").reply("1")
    assert not list(inbound_exactly_once(again.final().end()))


def test_a_message_stored_twice_is_reported() -> None:
    story = Story(stores=False).turn("one").row(user("one"), user("one"), labels=["m1", "m1"])
    found = list(inbound_exactly_once(story.reply("1").final().end()))
    assert codes(found) == ["inbound_exactly_once.twice"]


def test_a_message_that_is_not_stored_is_reported() -> None:
    story = Story(stores=False).turn("one").reply("1").final()
    assert codes(inbound_exactly_once(story.end())) == ["inbound_exactly_once.lost"]


def test_a_turn_without_a_reply_is_reported() -> None:
    story = Story().turn("one").reply("1")
    (finding,) = outbound_once(story.end())
    assert (finding.code, finding.events[-1]) == ("outbound_once.missing", story.last)


@pytest.mark.parametrize("how", ["crashed", "killed", "limit", "hung"])
def test_a_broken_run_owes_no_reply(how: str) -> None:
    assert not list(outbound_once(Story().turn("one").reply("1").end(how)))


def test_a_turn_that_ends_twice_is_reported() -> None:
    story = Story().turn("one").reply("1").final()
    first = story.called
    (finding,) = outbound_once(story.final().end())
    assert (finding.code, finding.events) == ("outbound_once.twice", (first, story.called))


def test_a_reply_and_an_error_are_two_endings() -> None:
    story = Story().turn("one").reply("1").final().say("oops", "error")
    assert codes(outbound_once(story.end())) == ["outbound_once.twice"]


def test_what_the_outbox_did_not_take_is_sent_again() -> None:
    assert not list(
        outbound_once(Story().turn("one").reply("1").say("1", taken=False).final().end())
    )


def test_a_reply_that_names_an_answered_message_stands_under_the_wrong_one() -> None:
    story = Story().turn("one", "m1").reply("1").final().turn("two", "m2").reply("2")
    assert codes(outbound_once(_end(story, "m1", "2").end())) == ["outbound_once.misnamed"]


@pytest.mark.parametrize("name", ["m2", "", "m3"])
def test_a_reply_may_name_its_message_or_none_that_is_known(name: str) -> None:
    story = Story().turn("one", "m1").reply("1").final().turn("two", "m2").reply("2")
    assert not list(outbound_once(_end(story, name, "2").end()))


def test_a_second_reply_to_a_message_stands_beside_the_one_that_is_due() -> None:
    story = Story().turn("one", "m1").reply("1").final().turn("two", "m2").reply("2")
    again = _end(_end(story, "m1", "more"), "m2", "2")
    assert "outbound_once.misnamed" not in codes(outbound_once(again.end()))


def test_partial_text_notices_and_heartbeats_are_no_endings() -> None:
    story = Story().turn("one").say("1", "partial").say("1", "partial").say("x", "notice")
    assert not list(outbound_once(story.say("", "heartbeat").reply("1").final().end()))


def test_a_success_after_the_cancel_is_reported() -> None:
    cancelled = (story := Story().turn("one").cancel()).last
    (finding,) = outbound_once(story.reply("1").final().end())
    told = finding.code, finding.message.rpartition(" ")[2]
    assert told == ("outbound_once.after_cancel", "completed")
    assert finding.events == (cancelled, story.called)


def test_a_cancelled_turn_may_say_so_or_nothing() -> None:
    said = Story().turn("one").cancel().final("stopped", "cancelled").end()
    silent = Story().turn("one").cancel().end()
    assert not list(outbound_once(said))
    assert not list(outbound_once(silent))


TWO = [user("one\n\ntwo")]


def _end(story: Story, name: str, text: str) -> Story:
    """An end that says which message it answers."""
    story._name = name
    return story.say(text)


def test_a_reply_that_comes_after_the_next_message_is_named() -> None:
    story = Story().turn("one").reply("1").turn("two").reply("2")
    finding = next(iter(outbound_once(_end(_end(story, "m1", "1"), "m2", "2").end())))
    assert finding.code == "outbound_once.missing"
    assert "ends without a reply before the agent takes the next message" in finding.message


@pytest.mark.parametrize(
    ("story", "met"),
    [
        (Story().turn("one").reply("1"), ""),
        (Story().turn("one").reply(use("list")).tool(), ""),
        (Story().turn("one").reply(use("list")).tool("gone", error=True), ", after list failed"),
        (Story().turn("one").reply(use("list")).tool("gone", error=True).reply("1"), ""),
        (Story().turn("one").reply(), ", after main/model#1 brought an empty answer"),
        (Story().turn("one").reply("1").take("two", "m2", reader=True), ", after the message m2"),
        (Story().turn("one").reply("1").say("1", taken=False), ", after main/outbox#1 failed"),
    ],
    ids=["words", "tool", "failure", "failure and words", "empty", "message", "outbox"],
)
def test_a_silent_end_is_told_with_what_the_turn_met_last(story: Story, met: str) -> None:
    found = [f for f in outbound_once(story.end()) if f.code == "outbound_once.missing"]
    assert found[0].message.startswith(f"turn 1 of main ends without a reply{met}")
    assert met or found[0].message == "turn 1 of main ends without a reply"


def test_two_turns_at_once_are_reported() -> None:
    story = Story().turn("one").turn("two").reply("1", messages=[user("one")])
    first = story.called
    story.reply("2", messages=TWO)
    second = story.called
    _end(story, "m1", "1")
    last = story.called
    (finding,) = turn_serial(_end(story, "m2", "2").end())
    assert (finding.code, finding.events) == ("turn_serial.overlap", (first, second, last))


def test_an_equal_message_that_waits_is_no_overlap() -> None:
    story = Story().turn("one").reply(use("list"), messages=[user("one")]).take("one", "m2")
    story.tool().reply("1", messages=[user("one"), assistant(use("list"))])
    assert not list(turn_serial(_end(story, "m1", "1").end()))


@pytest.mark.parametrize("again", [[], [user("old")]])
def test_a_waiting_message_with_words_of_a_stored_session_is_no_overlap(
    again: list[Message],
) -> None:
    """The first request fails, and is made again when a message has come that says the same."""
    asked = [Message("user", (Text("old"), Text("one")))]
    story = Story().turn("one").fail(529, messages=asked).take("old", "m2", reader=True)
    _end(story.reply("1", messages=[*asked, *again]), "m1", "1")
    story.take("", "m2").reply("2", messages=[*asked, assistant("1"), user("old")])
    found = codes(turn_serial(_end(story, "m2", "2").end()))
    assert found == (["turn_serial.overlap"] if again else [])


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


def test_a_later_request_that_quotes_an_answered_message_is_no_overlap() -> None:
    """A turn is stopped before it asks the model, and a summary of it begins the next turn."""
    story = _end(Story().turn("one"), "m1", "Stopped.").turn("two")
    for text in ("two", "So far: one. Now: two."):
        story.reply("2", messages=[user(text)])
    assert not list(turn_serial(_end(story, "m2", "2").end()))


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


@pytest.mark.parametrize("stored", [True, False])
def test_a_turn_without_a_reply_whose_message_a_kill_lost_says_so(stored: bool) -> None:
    story = Story(stores=False).turn("one", "m1")
    story = story.row(user("one"), labels=["m1"]) if stored else story
    story.reply("1").killed().take("one", "m1")
    (finding,) = outbound_once(story.end())
    assert finding.code == "outbound_once.missing"
    assert ("its message was in no row of the store" in finding.message) != stored


@pytest.mark.parametrize("times", [1, 2])
def test_a_message_that_a_cancel_ended_stands_once_in_the_next_request(times: int) -> None:
    asked = [user("look Ada up")] * times
    story = Story().turn("look Ada up").reply(use("list")).cancel()
    story.final("Cancelled.", status="cancelled").turn("hello")
    story.reply("hi", messages=[*asked, assistant("Cancelled."), user("hello")]).final()
    found = [f.code for f in inbound_exactly_once(story.end())]
    assert found == ["inbound_exactly_once.doubled"] * (times - 1)


def test_a_turn_without_a_reply_tells_of_the_words_that_came_before() -> None:
    story = Story(seams=NO_STORE).turn("yes").reply("1").final().turn("yes").turn("two").reply("2")
    found = [f.message for f in inbound_exactly_once(story.final().end())]
    assert any("it reads as" in message for message in found)
    other = Story(seams=NO_STORE).turn("yes").reply("1").final().turn("no").turn("two").reply("2")
    assert not any("reads as" in f.message for f in inbound_exactly_once(other.final().end()))


def test_a_reply_that_reads_as_the_last_one_is_told_as_the_cause() -> None:
    story = Story(seams=NO_STORE).turn("one").reply("It is done.").final()
    story.turn("two").reply("It is done.").turn("three").reply("3")
    (found,) = outbound_once(story.final().end())
    assert found.code == "outbound_once.missing"
    assert "reads as the reply of" in found.message
