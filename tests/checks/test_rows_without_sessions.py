"""Rows of a store that does not tell whose they are, and rows that grow."""

from __future__ import annotations

import pytest

from harness.checks.judge import judge
from harness.checks.stored_session import reload_equivalence
from harness.core.values.messages import Message, Text, ToolResult, assistant, results, user
from tests.checks.histories import Story, codes, use


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


SAID, RESULT = results(ToolResult("t1", "ok")), ToolResult("t2", "also")


@pytest.mark.parametrize(
    ("row", "message", "found"),
    [
        ("r3", Message("user", (*SAID.blocks, RESULT)), []),
        ("r3", Message("user", (*SAID.blocks, Text("two"))), []),
        ("r3", results(ToolResult("t1", "other")), ["reload_equivalence.changed"]),
        ("r1", Message("user", (Text("one"), RESULT)), ["reload_equivalence.changed"]),
    ],
)
def test_the_last_row_of_the_user_may_grow(row: str, message: Message, found: list[str]) -> None:
    """A store with one row for all that the user says in a row: results, and the next message."""
    calls = (use("list", id="t1"), use("list", {"page": 2}, id="t2"))
    story = Story(stores=False).turn("one").row(user("one")).reply(*calls)
    story.row(assistant(*calls)).tool("ok").row(SAID).tool("also").change(row, message)
    story.reply("x").row(assistant("x")).final()
    assert codes(reload_equivalence(story.end())) == found


@pytest.mark.parametrize(("kept", "is_found"), [("two", False), ("another", True)])
def test_a_message_in_a_row_that_was_there_is_stored(kept: str, is_found: bool) -> None:
    story = Story(stores=False).row(user("zero")).turn("two")
    story.change("r1", Message("user", (Text("zero"), Text(kept)))).reply("x")
    story.row(assistant("x")).final()
    lost = [code for code in codes(judge(story.end()).findings) if "lost" in code]
    assert bool(lost) == is_found


def test_a_message_that_waits_for_the_users_word_may_stand_beside_the_rows() -> None:
    story = Story(stores=False).turn("pay").row(user("pay")).reply(use("pay"))
    story.row(assistant(use("pay", id="c1"))).final("May I?", status="waiting")
    story.turn("well?").final("I wait for your word", status="waiting")
    assert not [code for code in codes(judge(story.end()).findings) if "lost" in code]


@pytest.mark.parametrize(("kept", "is_found"), [("two", False), ("another", True)])
def test_a_message_behind_the_results_of_its_row_is_stored(kept: str, is_found: bool) -> None:
    story = Story(stores=False).turn("two").row(Message("user", (*SAID.blocks, Text(kept))))
    story.reply("x").row(assistant("x")).final()
    lost = [code for code in codes(judge(story.end()).findings) if "lost" in code]
    assert bool(lost) == is_found


def test_a_row_that_takes_in_a_message_goes_before_a_later_one_with_equal_words() -> None:
    story = Story(stores=False, settings={"own_store": True}).row(user("zero")).turn("two")
    story.change("r1", Message("user", (Text("zero"), Text("two")))).reply("x")
    story.row(assistant("x")).final().turn("two").row(user("two")).reply("y")
    assert codes(reload_equivalence(story.row(assistant("y")).final().end())) == []


def test_a_row_whose_words_are_equal_differs_in_something_else() -> None:
    """An agent gave a tool the very object that it stores, and the tool wrote into it."""
    story = Story(stores=False).turn("one").row(user("one")).reply(use("list", {"a": 1}))
    story.row(assistant(use("list", {"a": 1}, id="t1"))).tool("ok")
    story.change("r2", assistant(use("list", {"a": 2}, id="t1"))).reply("x").row(assistant("x"))
    (found,) = reload_equivalence(story.final().end())
    assert found.message.endswith("differs in what is not text, or in white space")
