"""What a start after a kill sends: what the model had read, and alike at each start."""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.resumed_turns import resume_prefix
from harness.core.values.messages import (
    Message,
    ToolResult,
    ToolUse,
    assistant,
    results,
    user,
)
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes

LOOK, READ = ToolUse("t1", "look", {}), ToolUse("t2", "read", {})
ASKED = user("What is there?")
FIRST = (assistant(LOOK), results(ToolResult("t1", "3 letters")))
SECOND = (assistant(READ), results(ToolResult("t2", "Dear Ada")))


def _killed_behind_two_calls() -> FailingWorld:
    """The model has read the first result, and not the second one."""
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK).tool("3 letters").reply(READ).tool("Dear Ada")
    return world.restart()


def _found(world: FailingWorld, *sent: Message) -> list[str]:
    world.reply("Letters.", messages=[*sent]).final()
    return codes(resume_prefix(world.end()))


def test_what_the_model_had_read_is_sent_again() -> None:
    assert _found(_killed_behind_two_calls(), ASKED, *FIRST, *SECOND) == []
    assert _found(_killed_behind_two_calls(), ASKED, *FIRST) == []
    world = _killed_behind_two_calls()
    world.reply("Letters.", messages=[ASKED]).final()
    (finding,) = resume_prefix(world.end())
    one, two, resumed = world.history.trace.exchanges
    assert finding.code == "resume_prefix.forgotten"
    assert finding.events == (two.n, *world.history.trace.kills, resumed.n)
    assert one.n < two.n


def test_the_second_result_does_not_stand_for_the_first() -> None:
    assert _found(_killed_behind_two_calls(), ASKED, *SECOND) == ["resume_prefix.forgotten"]


def test_a_result_is_known_by_its_words_or_told_in_a_note() -> None:
    renamed = (assistant(ToolUse("n", "look", {})), results(ToolResult("n", "3 letters")))
    assert _found(_killed_behind_two_calls(), ASKED, *renamed) == []
    note = user("What is there? (This was begun before the restart.)")
    assert _found(_killed_behind_two_calls(), note) == []


def test_an_effect_is_asked_by_another_rule() -> None:
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK).tool("3 letters").effect().reply(READ)
    assert _found(world.tool("Dear Ada").restart(), ASKED) == []


def test_without_a_kill_nothing_is_asked() -> None:
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK).tool("3 letters").reply("x", messages=[ASKED])
    assert not list(resume_prefix(world.final().end()))


def _two_starts(*later: Message) -> list[str]:
    """A finished turn, then two that are killed before their first answer."""
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK, READ).tool("3 letters").tool("Dear Ada")
    world.reply("Letters.").final()
    both = (assistant(LOOK, READ), _both("3 letters", "Dear Ada"), assistant("Letters."))
    for name, sent in (("m2", both), ("m3", later)):
        world.turn("More?", name).restart()
        world.reply("No.", messages=[ASKED, *sent, user("More?")]).final()
    return [code for code in codes(resume_prefix(world.end())) if "differs" in code]


def _both(first: str, second: str, turned: bool = False) -> Message:
    told = (ToolResult("t1", first), ToolResult("t2", second))
    return results(*reversed(told)) if turned else results(*told)


CALLS = assistant(LOOK, READ)


@pytest.mark.parametrize(
    ("later", "found"),
    [
        (_both("3 letters", "Dear Ada"), []),
        (_both("3 letters", "Dear Ada", turned=True), ["resume_prefix.differs"]),
        (_both("3 letters", "Dear Eve, and more"), ["resume_prefix.differs"]),
        (_both("3 letters", "Dear"), []),
        (results(ToolResult("t2", "Dear Ada")), []),
    ],
)
def test_two_starts_tell_the_same_results_alike(later: Message, found: list[str]) -> None:
    assert _two_starts(CALLS, later) == found


def _killed_in_a_second_turn() -> FailingWorld:
    """The second turn has shown the results of the first one."""
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK, READ).tool("3 letters").tool("Dear Ada")
    world.reply("Letters.").final()
    both = _both("3 letters", "Dear Ada")
    world.turn("More?", "m2")
    return world.reply(LOOK, messages=[ASKED, CALLS, both, assistant("Letters."), user("More?")])


def test_an_earlier_turn_does_not_come_back_as_its_words_alone() -> None:
    words = (ASKED, assistant("Letters."), user("More?"))
    assert _found(_killed_in_a_second_turn().restart(), *words) == ["resume_prefix.forgotten"]
    both = _both("3 letters", "Dear Ada")
    whole = (ASKED, CALLS, both, assistant("Letters."), user("More?"))
    assert _found(_killed_in_a_second_turn().restart(), *whole) == []
    assert _found(_killed_in_a_second_turn().restart(), user("More?")) == []


def test_results_of_old_turns_may_always_be_left_out() -> None:
    world = FailingWorld()
    world.turn("What is there?").reply(LOOK).tool("3 letters").reply("Letters.").final()
    words = (ASKED, assistant("Letters."), user("More?"))
    world.turn("More?", "m2").reply(READ, messages=[*words]).restart()
    assert _found(world, *words) == []


def test_a_success_is_not_told_as_a_failure_after_a_kill() -> None:
    def told(text: str) -> list[str]:
        lost = results(ToolResult("t1", "3 letters"), ToolResult("t2", text, is_error=True))
        sent = (ASKED, CALLS, lost, assistant("Letters."), user("More?"))
        return _found(_killed_in_a_second_turn().restart(), *sent)

    assert told("Missing from the history.") == ["resume_prefix.differs"]
    assert told("Dear Ada (from the store)") == []


@pytest.mark.parametrize(("again", "found"), [("m2", False), ("m3", True)])
def test_a_message_that_is_delivered_again_after_a_kill_may_be_answered_then(
    again: str, found: bool
) -> None:
    """The agent had accepted it, and a kill came before its first request."""
    story = (
        Story(seams=("model", "inbox", "outbox"))
        .turn("one", "m1")
        .reply("1")
        .final("1")
        .take("two", "m2")
    )
    story.history.accepted(story.at_ms)
    story.killed().turn("two" if again == "m2" else "three", again).reply("2").final("2")
    assert ("inbound_exactly_once.lost" in codes(inbound_exactly_once(story.end()))) is found
