"""An ended turn stays closed: a later one holds nothing that it left behind."""

from __future__ import annotations

import pytest

from harness.checks.judge import judge
from harness.core.history.history import History
from harness.core.values.messages import Message, assistant, user
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, use

ASKED, NEXT = "How many stars are there?", "And how many moons?"
FOUND = "There are nine thousand of them, seen with the eye."


def _codes(history: History) -> list[str]:
    return [f.code for f in judge(history).findings if f.code.startswith("turn_closed.")]


def _failed() -> FailingWorld:
    world = FailingWorld()
    world.turn(ASKED).fail(400).say("That failed.", "error")
    return world


def test_a_failed_question_does_not_stand_beside_the_next() -> None:
    beside = _failed().turn(NEXT).reply("Many.").final().end()
    assert _codes(beside) == ["turn_closed.question"]


def test_the_agents_words_of_a_failure_are_no_words_of_the_user() -> None:
    world = FailingWorld().turn(ASKED).fail(400).say("The model refused this.", "error")
    world.live.append(user("The model refused this."))
    assert "turn_closed.error" in _codes(world.turn(NEXT).reply("Many.").final().end())


def test_the_agents_words_that_a_channel_brings_back_are_words_of_the_user() -> None:
    said = "The model refused this."
    world = FailingWorld().turn(ASKED).fail(400).say(said, "error")
    world.turn(said).fail(400).say(said, "error")
    assert "turn_closed.error" not in _codes(world.turn(NEXT).reply("Many.").final().end())


@pytest.mark.parametrize(
    "note",
    [assistant("The model refused this."), user("(A note: The model refused this. No answer.)")],
    ids=["said", "noted"],
)
def test_a_failure_may_be_told_by_the_agent_or_in_a_note(note: object) -> None:
    world = FailingWorld().turn(ASKED).fail(400).say("The model refused this.", "error")
    world.live.append(note)  # type: ignore[arg-type]
    assert not _codes(world.turn(NEXT).reply("Many.").final().end())


@pytest.mark.parametrize(
    "note", [assistant("I could not answer."), user("(This had no answer.)")], ids=["said", "noted"]
)
def test_a_failed_question_with_a_note_may_stay(note: object) -> None:
    world = _failed()
    world.live.append(note)  # type: ignore[arg-type]
    assert not _codes(world.turn(NEXT).reply("Many.").final().end())


def test_a_question_that_the_user_puts_again_is_new() -> None:
    again = f"{ASKED} {NEXT}"
    assert not _codes(_failed().turn(again).reply("Many.").final().end())


def _cancelled() -> Story:
    world = FailingWorld()
    return world.turn(ASKED).reply(use("list", {"path": "a"})).tool(FOUND).cancel()


def test_a_late_result_is_no_word_of_the_user() -> None:
    story = _cancelled().say("Stopped.", "final", "cancelled")
    story.live.append(user(f"Late: {FOUND}"))
    assert "turn_closed.result" in _codes(story.turn(NEXT).reply("Many.").final().end())


@pytest.mark.parametrize(("told", "found"), [("37", True), ("37 of them.", False)])
def test_a_short_late_result_directly_before_the_message_is_known(told: str, found: bool) -> None:
    world = FailingWorld().turn(ASKED).reply(use("list", {"path": "a"})).tool("37").cancel()
    story = world.say("Stopped.", "final", "cancelled")
    story.turn(NEXT).reply("Many.", messages=[user(f"{told}\n{NEXT}")])
    assert ("turn_closed.result" in _codes(story.final().end())) is found


def test_a_late_result_under_its_call_or_in_the_users_words_is_in_order() -> None:
    kept = _cancelled().say("Stopped.", "final", "cancelled").turn(NEXT)
    assert "turn_closed.result" not in _codes(kept.reply("Many.").final().end())
    quoted = _cancelled().say("Stopped.", "final", "cancelled").turn(f"Who says: {FOUND}")
    assert "turn_closed.result" not in _codes(quoted.reply("Many.").final().end())


def _restarted(said: str) -> History:
    world = FailingWorld()
    world.turn(ASKED).reply(FOUND).final()
    world.restart()
    return world.turn(NEXT).say(said, "notice").reply("There is one moon only.").final().end()


def test_an_old_answer_is_not_sent_again_after_a_restart() -> None:
    assert "turn_closed.reply" in _codes(_restarted(FOUND))


@pytest.mark.parametrize("said", [f"Before the restart I said: {FOUND}", "I was restarted, sorry."])
def test_a_note_after_a_restart_is_in_order(said: str) -> None:
    assert "turn_closed.reply" not in _codes(_restarted(said))


def _paid(key: str = "") -> FailingWorld:
    world = FailingWorld()
    world.turn("Settle the bill of May.").reply(use("pay")).tool("The bill is paid.")
    world.effect(key).fail(400).say("That failed.", "error")
    return world


def _went_on(world: FailingWorld, *left: Message) -> list[str]:
    world.live[:] = left
    return _codes(world.turn(NEXT).reply("Many.").final().end())


def test_an_effect_of_a_failed_turn_is_known_in_the_next() -> None:
    assert _went_on(_paid(), user("Settle the bill of May."), assistant("That failed.")) == [
        "turn_closed.effect"
    ]


def test_an_effect_may_be_told_in_any_form() -> None:
    for note in ("I called pay and then failed.", "The bill is paid. The rest failed."):
        assert not _went_on(_paid(), user("Settle the bill of May."), assistant(note))


def test_an_effect_that_happens_once_may_be_forgotten() -> None:
    assert not _went_on(_paid("k1"), user("Settle the bill of May."), assistant("That failed."))


def test_an_effect_of_a_turn_that_keeps_its_calls_is_known() -> None:
    assert not _codes(_paid().turn(NEXT).reply("Many.").final().end())


@pytest.mark.parametrize(("again", "found"), [(ASKED, []), ("So?", ["turn_closed.question"])])
def test_a_question_that_is_taken_in_with_the_next_message_is_new(
    again: str, found: list[str]
) -> None:
    """An agent answers all that has come as one, and the user asks the same again."""
    story = _failed().turn(NEXT).take(again, "m9", reader=True)
    story.live.append(user(again))
    assert _codes(story.reply("Many.", request={"took": ("m9",)}).final().end()) == found
