"""reload_equivalence.duplicate where the store does not tell whose a row is."""

from __future__ import annotations

import pytest

from harness.checks.stored_session import reload_equivalence
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes


def test_a_row_without_a_session_may_be_that_of_any_open_turn() -> None:
    """Two messages of one session get the same notice, the second while another session works."""
    story = Story(stores=False).of("side").turn("one", "s1").reply("No.")
    story.row(user("one"), assistant("No.")).final()
    story.turn("two", "s2").row(user("two")).reply("No.")
    story.of("main").turn("three", "m1").row(user("three"))
    story.of("side").row(assistant("No.")).final("No.").of("main").reply("Yes.")
    story.row(assistant("Yes.")).final()
    assert codes(reload_equivalence(story.end())) == []


@pytest.mark.parametrize("times", [1, 2])
def test_two_sessions_may_store_equal_replies_at_one_time(times: int) -> None:
    """Each turn begins with its request, as that of a reader does; the store names no sessions."""
    story = Story(stores=False).take("one", "m1", reader=True)
    story.of("side").take("two", "s1", reader=True).of("").row(user("one"), user("two"))
    story.of("main").reply("Yes.").of("side").reply("Yes.")
    story.of("").row(*[assistant("Yes.")] * (1 + times))
    story.of("side").final("Yes.").of("main").final("Yes.")
    found = codes(reload_equivalence(story.end()))
    assert ("reload_equivalence.duplicate" in found) == (times > 1)
