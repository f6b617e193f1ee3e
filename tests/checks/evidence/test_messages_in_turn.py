"""Messages that come while a turn is open, and the words that a request holds of them."""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import turn_serial
from harness.core.values.messages import Message, assistant, user
from tests.checks.histories import Story, codes, use


def _end(story: Story, name: str, text: str) -> Story:
    story._name = name
    return story.say(text)


@pytest.mark.parametrize(
    ("steered", "more", "found"),
    [
        ("hello again", [], []),
        ("goodbye", [], []),
        ("goodbye", [user("hello")], ["turn_serial.overlap"]),
    ],
    ids=["its words in another message", "waits", "worked on"],
)
def test_a_request_that_takes_another_message_in_is_no_work_on_this_one(
    steered: str, more: list[Message], found: list[str]
) -> None:
    """m2 is taken into the turn of m1, and m3 begins the next one."""
    story = Story().turn("one").reply(use("list"), messages=[user("one")])
    story.take(steered, "m2", reader=True).take("hello", "m3", reader=True).tool()
    asked = [user("one"), assistant(use("list")), user(steered), *more]
    _end(story.reply("1", messages=asked, request={"took": ("m2",)}), "m1", "1")
    story.take("", "m3").reply("3", messages=[*asked, assistant("1"), user("hello")])
    assert codes(turn_serial(_end(story, "m3", "3").end())) == found
