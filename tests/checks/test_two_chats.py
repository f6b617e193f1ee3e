"""What the first line says where two chats are mixed up: one key for both, one list for both.

An agent that joins the session and the id of a message to one text takes `2` of `a:1` for `1:2` of
`a`. One that keeps what it could not send in one list sends it to the next chat. The finding is the
same as for any lost message, so the line has to name the other chat.
"""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import inbound_exactly_once, outbound_once
from tests.checks.histories import Story

SEAMS = ("model", "inbox", "outbox")
NOTHING, THING = "nothing is done about the message", "'another thing'"


def _second_chat(session: str, name: str) -> str:
    """The line about a message of another chat that gets no answer."""
    story = Story(seams=SEAMS).turn("one", "1:2").reply("1").final("1")
    story.session = session
    story.take("another thing", name)
    found = [f.message for f in inbound_exactly_once(story.turn("two").reply("2").final("2").end())]
    return next(message for message in found if message.startswith("nothing is done"))


@pytest.mark.parametrize(
    ("session", "name", "words"),
    [
        ("main:1", "2", "its session and id together read as those of 1:2 of main"),
        ("main1", "2", "its session and id together read as those of 1:2 of main"),
        ("bob", "1:2", "main has a message of the same id, which came before"),
    ],
)
def test_a_key_that_reads_as_an_earlier_one_is_told(session: str, name: str, words: str) -> None:
    assert _second_chat(session, name) == f"{NOTHING} {name}, {THING}: {words}"


def test_another_key_is_not_told_as_the_cause() -> None:
    assert _second_chat("bob", "7") == f"{NOTHING} 7, {THING}"


def test_words_that_go_to_another_chat_are_told() -> None:
    said = "It hangs behind the calendar."
    story = Story(seams=SEAMS).turn("one").reply(said)
    story.say(said, taken=False)
    story.session = "bob"
    story.turn("two").reply("2").say(said, "notice").final("2")
    found = [f for f in outbound_once(story.end()) if f.code == "outbound_once.missing"]
    assert "main/outbox#1 failed, and bob/outbox#1 sends its words" in found[0].message


def test_a_reply_that_is_sent_again_in_its_own_chat_is_no_mix_up() -> None:
    said = "It hangs behind the calendar."
    story = Story(seams=SEAMS).turn("one").reply(said).say(said, taken=False).say(said)
    story.session = "bob"
    assert not list(outbound_once(story.turn("two").reply("2").final("2").end()))


def test_equal_words_that_answer_a_message_of_the_other_chat_are_its_own() -> None:
    said = "It hangs behind the calendar."
    story = Story(seams=SEAMS).turn("one", "m1").reply(said)
    story.say(said, taken=False)
    story.session = "bob"
    story.turn("two", "m2").reply(said).final()
    (found,) = (f for f in outbound_once(story.end()) if f.code == "outbound_once.missing")
    assert "sends its words" not in found.message
