"""reply_carried for an answer of several text blocks."""

from __future__ import annotations

import pytest

from harness.checks.reply_content import reply_carried
from harness.core.values.messages import Text
from tests.checks.histories import Story


def rules(story: Story) -> list[str]:
    return [finding.code.partition(".")[2] for finding in reply_carried(story.end())]


def first(story: Story) -> str:
    return next(reply_carried(story.end())).message


def test_each_text_block_is_read() -> None:
    blocks = Text("You need flour and yeast."), Text("Knead it for ten minutes.")
    both = Story().turn("go").reply(*blocks)
    assert not rules(both.final("You need flour and yeast.\n\nKnead it for ten minutes."))
    for block, which in zip(blocks, ("the first", "1"), strict=True):
        story = Story().turn("go").reply(*blocks).final(block.text)
        assert rules(story) == ["blocks"]
        assert f"only {which} of 2 text blocks" in first(story)


WORDS = Text("You need **flour** [a"), Text("cup] and yeast.")


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("You need **flour** [acup] and yeast.", []),
        ("You need **flour** [a\ncup] and yeast.", []),
        ("You need **flour** [acup] andyeast.", ["blocks"]),
    ],
)
def test_blocks_may_be_joined_as_an_sdk_does(read: str, found: list[str]) -> None:
    """`output_text` of Responses and `text` of Gemini put nothing between two blocks."""
    assert rules(Story().turn("go").reply(*WORDS).final(read)) == found


def test_an_answer_may_quote_that_of_another_session() -> None:
    story = Story().of("side").turn("one", "s1").reply("You need **flour**.").final()
    story.of("main").turn("two", "m1").reply("You need **flour**. And a cup of yeast.")
    assert rules(story.final("You need **flour**. And acup of yeast.")) == ["cut"]
