"""After a start each session is asked for its last reply, also in a store that names no session."""

from __future__ import annotations

import pytest

from harness.checks.stored_session import reload_equivalence
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes


@pytest.mark.parametrize("forgets", [True, False])
def test_each_session_is_asked_after_a_start(forgets: bool) -> None:
    story = Story(stores=False)
    for session in ("ada", "bob"):
        story.of(session).turn(f"I am {session}.").row(user(f"I am {session}."), labels=["m1"])
        story.reply(f"Hello, {session}.").row(assistant(f"Hello, {session}.")).final()
    story.killed()
    story.history.started(run="again", scenario="again", attempt=1)
    for session in ("ada", "bob"):
        story.of(session)
        if forgets and session == "bob":
            story.live.clear()
        story.turn("Who am I?").row(user("Who am I?"), labels=["m2"])
        story.reply(f"You are {session}.").row(assistant(f"You are {session}.")).final()
    found = codes(reload_equivalence(story.end()))
    assert found == (["reload_equivalence.forgotten"] if forgets else [])


def test_what_another_session_was_told_in_equal_words_is_not_asked_for() -> None:
    story = Story(stores=False)
    for session in ("ada", "bob"):
        story.of(session).turn("Who keeps it?").row(user("Who keeps it?"), labels=["m1"])
        story.reply("Cleo.").row(assistant("Cleo.")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))


def test_an_answer_in_one_session_is_not_asked_for_where_another_user_says_the_same() -> None:
    story = Story(stores=False).of("ada").turn("Yes.").row(user("Yes."), labels=["m1"])
    story.reply("Yes.").row(assistant("Yes.")).final().of("bob")
    story.live.clear()
    story.turn("Yes.").row(user("Yes."), labels=["m2"])
    story.reply("Fine.").row(assistant("Fine.")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))
