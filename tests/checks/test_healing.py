"""Sessions after a fault: well again, or ill for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.checks.healing import session_heals
from harness.core.values.messages import user
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes, use

FAULTY: Any = {"faults": ("http.status",)}


def _ill() -> FailingWorld:
    """A turn that meets a fault."""
    world = FailingWorld()
    world.turn("Hello?").fail(529, **FAULTY).final("Not now.", "failed", "error")
    return world


def _refused(story: Story) -> Story:
    refused = {"refused": ("V4",)}
    return story.turn("And?").fail(400, "V4", **refused).final("It failed.", "failed", "error")


def _unasked(story: Story) -> Story:
    return story.turn("And?").final("The agent is stuck.", "failed", "error")


def _unanswered(story: Story) -> Story:
    return story.turn("And?").reply("Fine.").final(status="failed", kind="error")


def _well(story: Story) -> Story:
    return story.turn("And?").reply("Fine.").final()


ILL = {"refused": _refused, "unasked": _unasked, "unanswered": _unanswered}


@pytest.mark.parametrize("rule", ILL)
def test_a_later_turn_is_answered(rule: str) -> None:
    world = _ill()
    fault = world.history.trace.exchanges[0].answered
    ILL[rule](world)
    (finding,) = session_heals(world.end())
    turn = world.history.trace.turns["main", 2]
    assert fault is not None
    assert turn.delivery is not None
    assert finding.code == f"session_heals.{rule}"
    assert finding.events == (fault.n, turn.delivery.n, turn.settled_n)


def test_a_session_that_is_well_again_is_fine() -> None:
    assert not list(session_heals(_well(_well(_ill())).end()))


def test_two_messages_are_looked_at() -> None:
    assert codes(session_heals(_unasked(_well(_ill())).end())) == ["session_heals.unasked"]
    assert not list(session_heals(_unasked(_well(_well(_ill()))).end()))
    history = _unasked(_unasked(_unasked(_ill()))).end()
    assert len(list(session_heals(history))) == 2
    assert len(list(session_heals(history, messages=1))) == 1


@pytest.mark.parametrize("rule", ILL)
def test_without_a_fault_there_is_nothing_to_heal(rule: str) -> None:
    assert not list(session_heals(ILL[rule](Story()).end()))


def _cancelled(story: Story) -> Story:
    return story.turn("Go.").reply(use("list")).cancel().say("Stopped.", "notice")


def _with_a_failed_tool(story: Story) -> Story:
    return story.turn("Go.").reply(use("list")).tool("x", error=True).reply("No.").final()


def _killed(story: Story) -> Story:
    return story.turn("Go.").killed().reply("Done.").final()


def _kept_from_before(story: Story) -> Story:
    return story.row(user("Hello."))


@pytest.mark.parametrize("ill", [_cancelled, _with_a_failed_tool, _killed, _kept_from_before])
def test_what_makes_a_session_ill(ill: Callable[[Story], Story]) -> None:
    assert codes(session_heals(_unasked(ill(Story())).end())) == ["session_heals.unasked"]
    assert not list(session_heals(_well(ill(Story())).end()))


def test_a_turn_that_meets_a_fault_is_not_judged() -> None:
    world = _ill().turn("And?").fail(529, **FAULTY).final("Not now.", "failed", "error")
    assert not list(session_heals(world.end()))


def test_the_model_may_decline_and_work() -> None:
    declines = _ill().turn("And?").reply("No.", stop="refusal").final(status="refused")
    assert not list(session_heals(declines.end()))
    works = _ill().turn("And?").reply(use("list")).tool("x").reply("I stop here.")
    assert not list(session_heals(works.final(status="limit").end()))


def test_a_turn_that_pauses_on_and_on_may_be_ended() -> None:
    def paused(times: int) -> list[str]:
        story = _ill().turn("And?")
        for _ in range(times):
            story.reply("Searching", stop="pause_turn")
        return codes(session_heals(story.reply("I stop here.").final(status="failed").end()))

    assert paused(3) == []
    assert paused(2) == ["session_heals.unanswered"]


def test_a_conversation_over_the_window_is_no_illness() -> None:
    world = _ill().turn("And?").fail(400, "V23", refused=("V23",))
    assert not list(session_heals(world.final("Too long.", "failed", "error").end()))


def test_a_pause_that_was_asked_for_is_kept() -> None:
    def story(wait_ms: int) -> Story:
        world = FailingWorld().turn("Hello?").fail(429, retry_after="3600", **FAULTY)
        return _unasked(world.final("In an hour.", "failed", "error").wait(wait_ms))

    assert not list(session_heals(story(1_000).end()))
    assert codes(session_heals(story(3_600_000).end())) == ["session_heals.unasked"]


@pytest.mark.parametrize("text", [" ", ""])
def test_a_blank_message_needs_no_reply(text: str) -> None:
    world = _ill().take(text).say("It was empty.", "error", "failed")
    assert not list(session_heals(world.end()))


def test_a_message_that_came_before_needs_no_second_reply() -> None:
    world = _well(_ill()).take("And?", "m2").say("You had that.", "error", "failed")
    assert not list(session_heals(world.end()))


def test_an_agent_that_dies_of_the_next_message_is_ill() -> None:
    history = _ill().take("And?", "m2").end("crashed")
    assert codes(session_heals(history)) == ["session_heals.unasked"]


def test_a_turn_that_is_not_over_is_not_judged() -> None:
    assert not list(session_heals(_unasked(_ill()).history))


def test_our_own_refusals_are_no_illness() -> None:
    world = _ill().turn("And?").fail(400, "script.exhausted")
    assert not list(session_heals(world.final("It failed.", "failed", "error").end()))
