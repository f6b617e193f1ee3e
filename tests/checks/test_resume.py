"""Turns that were interrupted by a kill: resumed once, parked, or begun again and again."""

from __future__ import annotations

import pytest

from harness.checks.resume import resume_bounded
from harness.core.values.messages import ToolUse
from harness.core.values.plans import Kill
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import codes

PAY = ToolUse("t1", "write", {"path": "17"})


def _killed(times: int) -> FailingWorld:
    """A turn in which the agent asks the model, and is killed, so many times."""
    world = FailingWorld()
    world.turn("Count the stars.")
    for _ in range(times):
        world.reply(status=None, steps=(Kill(),))
        world.restart()
    return world


def test_an_interrupted_turn_may_be_finished_once() -> None:
    assert not list(resume_bounded(_killed(1).reply("Many.").final().end()))


def test_it_is_not_begun_a_third_time() -> None:
    world = _killed(2).reply("Many.")
    begun = tuple(e.n for e in world.history.trace.exchanges)
    (finding,) = resume_bounded(world.final().end())
    assert (finding.code, finding.events) == ("resume_bounded.again", begun)
    assert not list(resume_bounded(world.history, resumes=2))


def test_a_message_that_is_handed_out_again_is_the_same() -> None:
    world = FailingWorld()
    for _ in range(2):
        world.turn("Count the stars.", "m1").reply(status=None, steps=(Kill(),))
        world.restart()
    world.turn("Count the stars.", "m1").reply("Many.").final()
    assert codes(resume_bounded(world.end())) == ["resume_bounded.again"]


def test_other_messages_are_others() -> None:
    world = FailingWorld()
    for name in ("m1", "m2", "m3"):
        world.turn("Count the stars.", name).reply("Many.").final()
        world.restart()
    assert not list(resume_bounded(world.end()))


def test_a_message_that_was_not_begun_was_not_resumed() -> None:
    world = FailingWorld()
    for _ in range(3):
        world.take("Count the stars.", "m1")
        world.restart()
    world.turn("Count the stars.", "m1").reply("Many.").final()
    assert not list(resume_bounded(world.end()))


def test_a_turn_that_is_given_up_is_told() -> None:
    world = _killed(2)
    kills = tuple(e.n for e in world.history.events if type(e).__name__ == "Killed")
    world.end()
    (finding,) = resume_bounded(world.history)
    assert (finding.code, finding.events) == ("resume_bounded.parked", (*kills, world.last))


@pytest.mark.parametrize("kind", ["error", "notice", "final"])
def test_a_word_parks_it(kind: str) -> None:
    world = _killed(2).say("It was interrupted twice.", kind, "failed")
    assert not list(resume_bounded(world.end()))


def test_a_word_that_was_not_taken_parks_nothing() -> None:
    world = _killed(2).say("It was interrupted twice.", "error", taken=False)
    assert codes(resume_bounded(world.end())) == ["resume_bounded.parked"]


def test_a_word_about_another_message_parks_nothing() -> None:
    world = _killed(2).take("Hello?", "m2").say("Hello.")
    assert codes(resume_bounded(world.end())) == ["resume_bounded.parked"]


@pytest.mark.parametrize("how", ["killed", "limit"])
def test_an_agent_that_did_not_start_again_could_not_tell_it(how: str) -> None:
    assert not list(resume_bounded(_killed(2).end(how)))


def _cut_off() -> FailingWorld:
    world = FailingWorld()
    world.turn("Pay.").reply(PAY)
    world.tool("paid")
    return world


def test_a_call_with_an_unknown_outcome_is_not_run_again() -> None:
    world = _cut_off().effect().restart()
    ran, killed = world.history.trace.executions[0].n, world.last - 1
    world.again(PAY).tool("paid")
    (finding,) = resume_bounded(world.effect().end())
    assert finding.code == "resume_bounded.executed"
    assert finding.events == (ran, killed, world.history.trace.executions[1].n)


def test_the_model_may_ask_for_it_anew() -> None:
    world = _cut_off().result("Its outcome is unknown.", flagged=True).restart()
    world.reply(ToolUse("t2", "write", {"path": "17"})).tool("paid")
    assert not list(resume_bounded(world.reply("Paid.").final().end()))


def test_one_idempotency_key_makes_two_runs_one() -> None:
    world = _cut_off().effect("order-17").restart().again(PAY)
    world.tool("paid")
    assert codes(resume_bounded(world.history)) == ["resume_bounded.executed"]
    assert not list(resume_bounded(world.effect("order-17").end()))


def test_a_second_run_without_a_kill_is_no_resume() -> None:
    world = _cut_off().again(PAY)
    assert not list(resume_bounded(world.tool("paid").end()))


def test_a_result_that_the_model_has_seen_is_known() -> None:
    world = _cut_off()
    world.reply("Fine.")
    world.restart().again(PAY)
    assert not list(resume_bounded(world.tool("paid").end()))
