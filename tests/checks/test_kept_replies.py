"""The last reply stands in the next request whole, and in the words that the user has read."""

from __future__ import annotations

import pytest

from harness.checks.conversation import history_faithful
from harness.core.values.messages import Text, assistant, user
from tests.checks.histories import Story, codes


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ("The answer is one and nothing", "is cut, and its last 11 of 40 characters are gone"),
        ("THE ANSWER IS ONE AND NOTHING", 'was "The answer is one and'),
        ("(answered)", "is missing"),
    ],
)
def test_a_reply_that_stands_there_changed_is_told_so(held: str, told: str) -> None:
    story = Story().turn("one").reply("The answer is one and nothing else today").final()
    sent = [user("one"), assistant(Text(held)), user("two")]
    (finding,) = history_faithful(story.turn("two").reply("2", messages=sent).final().end())
    assert f"the reply of turn 1 of main {told}" in finding.message


@pytest.mark.parametrize(
    "held",
    [
        (Text("The answer is one and nothing else today, as I said."),),
        (Text("The answer is one"), Text(" and nothing else today")),
        (Text("The answer is\n  one and nothing else\ntoday"),),
    ],
)
def test_a_reply_may_stand_there_in_several_pieces(held: tuple[Text, ...]) -> None:
    story = Story().turn("one").reply("The answer is one and nothing else today").final()
    sent = [user("one"), *(assistant(text) for text in held), user("two")]
    story.turn("two").reply("2", messages=sent)
    assert codes(history_faithful(story.final().end())) == []


def test_a_reply_with_a_footer_is_kept_as_the_model_said_it() -> None:
    footed = Story().turn("one").reply("The answer is one.")
    footed.final("The answer is one. (It took three seconds, and two cents.)")
    assert codes(history_faithful(footed.turn("two").reply("2").final().end())) == []
