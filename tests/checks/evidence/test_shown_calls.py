"""A call that the user was shown in words is the one that runs by the user's answer."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.approvals import approval
from harness.checks.evidence.shown_text import shown_calls
from harness.core.values.messages import user
from tests.checks.histories import Story, codes, use

SHOWN = {"path": "notes/a"}
OTHER = {"path": "notes/b"}
QUESTION = "May I run write with {'path': 'notes/a'}?"
ANSWER = "yes, do"


def _asked(words: str = QUESTION, shown: Any = SHOWN) -> Story:
    """A turn that ends with a question in words; the model has not read the answer yet."""
    return Story().turn("Write it.").reply(use("write", shown)).say(words).take(ANSWER)


def _replayed(story: Story, given: Any, *, name: str = "write", read: bool = False) -> list[str]:
    """The call is asked for again, and runs; the model may have read the answer before."""
    said = [user("Write it."), *([user(ANSWER)] if read else [])]
    story.reply(use(name, given), messages=said).tool("written")
    return codes(approval(story.final("Done.").end()))


def test_another_call_than_the_shown_one_runs_by_the_answer() -> None:
    assert _replayed(_asked(), OTHER) == ["approval.another"]


@pytest.mark.parametrize(
    ("story", "given", "more"),
    [
        (_asked(), SHOWN, {}),  # The turn is played again, and comes to the same call.
        (_asked(), OTHER, {"read": True}),  # The model may have been told of another path.
        (_asked(), OTHER, {"name": "read"}),  # A step on the way to the call.
        (_asked("Which folder do you mean?"), OTHER, {}),  # No call was shown.
        (_asked("May I run write?"), OTHER, {}),  # No input was shown.
        (_asked("May I run write with {}?", {}), OTHER, {}),  # Nothing could be shown.
        (_asked("I shall run write.", ""), OTHER, {}),  # Any text holds nothing.
        (_asked("I shall run write.", {"path": ""}), OTHER, {}),  # And an empty value.
    ],
)
def test_what_is_no_run_of_another_call(story: Story, given: Any, more: dict[str, Any]) -> None:
    assert _replayed(story, given, **more) == []


def test_the_question_is_one_also_where_the_call_runs_afterwards() -> None:
    story = Story().turn("Write it.").reply(use("write", SHOWN)).say(QUESTION).take(ANSWER)
    story.tool("written").reply("Done.").final().end()
    assert len([*shown_calls(story.history.trace)]) == 1
    assert codes(approval(story.history)) == []


def test_a_call_that_ran_before_the_reply_was_not_asked_about() -> None:
    story = Story().turn("Write it.").reply(use("write", SHOWN)).tool("written").reply("Done.")
    story.final("I ran write with notes/a.").end()
    assert not [*shown_calls(story.history.trace)]
