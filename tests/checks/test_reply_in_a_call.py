"""The answer of a turn that ends by a call: it is the text of that call, and no words beside it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.reply_content import reply_carried
from tests.checks.histories import Story, codes, use

ANSWER = "Take **five hundred** grams of flour, and bake it for forty minutes."


def _rules(story: Story) -> list[str]:
    return [code.removeprefix("reply_carried.") for code in codes(reply_carried(story.end()))]


@pytest.mark.parametrize(
    ("given", "sent", "rules"),
    [
        ({"answer": ANSWER}, ANSWER, []),
        ({"answer": ANSWER}, f"**{ANSWER}**", []),
        ({"answer": ANSWER}, "I will look it up.", ["before_call"]),
        ({"answer": ANSWER}, "All done.", ["replaced"]),
        ({"answer": ANSWER, "title": "Bread"}, "I will look it up.", []),
        ({"path": "/srv/bread.txt"}, "I will look it up.", []),
        ({}, "I will look it up.", []),
    ],
)
def test_a_call_that_ends_the_turn_holds_the_answer(
    given: Any, sent: str, rules: list[str]
) -> None:
    story = Story(settings={"profile": {"turn_ending_tools": ["final_answer"]}}).turn("go")
    story.reply("I will look it up.", use("final_answer", given))
    assert _rules(story.final(sent)) == rules


def test_a_tool_that_ran_at_the_end_holds_no_answer() -> None:
    story = Story(settings={"profile": {"turn_ending_tools": ["note"]}}).turn("go")
    story.reply("I will write it down.", use("note", {"line": ANSWER})).tool()
    assert not _rules(story.final("I will write it down."))
