"""Turns that were interrupted by a kill: resumed once, parked, or begun again and again.

Sessions after a fault: well again, or ill for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.checks.recovery import resume_bounded, session_heals
from harness.core.values.calls import InboxRequest, OutboxRequest
from harness.core.values.messages import ToolUse, user
from harness.core.values.plans import Kill
from tests.checks.failing_worlds import FailingWorld
from tests.checks.histories import Story, codes, use

PAY = ToolUse("t1", "write", {"path": "17"})


def _killed(times: int) -> FailingWorld:
    """A turn in which the agent asks the model, and is killed, a given number of times."""
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
    assert finding.message.endswith("is worked on for the 3rd time, after 2 kills")
    assert not list(resume_bounded(world.history, resumes=2))


def test_a_message_that_is_handed_out_again_is_the_same() -> None:
    world = FailingWorld()
    for _ in range(2):
        world.turn("Count the stars.", "m1").reply(status=None, steps=(Kill(),))
        world.restart()
    world.turn("Count the stars.", "m1").reply("Many.").final()
    assert codes(resume_bounded(world.end())) == ["resume_bounded.again"]


def test_an_attempt_that_keeps_nothing_is_told_as_begun_anew() -> None:
    world = FailingWorld()
    for _ in range(3):
        world.turn("Count the stars.", "m1").reply(PAY, messages=[user("Count the stars.")])
        world.tool("paid").restart()
    (finding,) = (f for f in resume_bounded(world.end()) if f.code == "resume_bounded.again")
    assert "each time from its beginning" in finding.message


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


@pytest.mark.parametrize(("rule", "found"), [("V23", []), ("V4", ["session_heals.refused"])])
def test_a_summary_that_is_too_long_ends_a_turn_before_its_first_request(
    rule: str, found: list[str]
) -> None:
    story = _ill().turn("And?").fail(400, rule, refused=(rule,), purpose="compact")
    assert codes(session_heals(story.final("It failed.", "failed", "error").end())) == found


def test_a_cancel_that_lasts_is_named() -> None:
    (finding,) = session_heals(_ill().turn("And?").final("Stopped.", "cancelled").end())
    assert finding.code == "session_heals.unasked"
    assert "the user cancelled" not in finding.message + _messages(_unasked(_ill()))


@pytest.mark.parametrize("session", ["main", "side"])
def test_the_cancel_that_lasts_is_that_of_a_turn_with_one(session: str) -> None:
    story = _ill()
    story.session = session
    story.turn("Wait.").cancel().final("Stopped.", "cancelled")
    story.session = "main"
    (finding,) = session_heals(story.turn("And?").final("Stopped.", "cancelled").end())
    number = 2 if session == "main" else 1
    assert finding.message.endswith(f": the user cancelled turn {number} of {session}")


def _messages(story: Story) -> str:
    return "".join(finding.message for finding in session_heals(story.end()))


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


def _killed_at(story: Story) -> Story:
    return story.turn("Go.").killed().reply("Done.").final()


def _kept_from_before(story: Story) -> Story:
    return story.row(user("Hello."))


@pytest.mark.parametrize("ill", [_cancelled, _with_a_failed_tool, _killed_at, _kept_from_before])
def test_what_makes_a_session_ill(ill: Callable[[Story], Story]) -> None:
    assert codes(session_heals(_unasked(ill(Story())).end())) == ["session_heals.unasked"]
    assert not list(session_heals(_well(ill(Story())).end()))


def test_a_seed_that_the_agent_keeps_where_nothing_reads_makes_a_session_ill() -> None:
    history = _unasked(Story(stores=False, settings={"seeded": 2})).end()
    assert codes(session_heals(history)) == ["session_heals.unasked"]
    assert not list(session_heals(_well(Story(stores=False, settings={"seeded": 2})).end()))


@pytest.mark.parametrize(("attempt", "found"), [(1, ["session_heals.unasked"]), (2, [])])
def test_a_message_that_was_offered_before_a_kill_may_be_given_up(
    attempt: int, found: list[str]
) -> None:
    story = Story().turn("Hello?").reply("1").final().killed()
    where, key = {**story._where(), "turn": 2}, story._key("inbox")
    story.history.called(**where, key=key, seam="inbox", request=InboxRequest())
    value = {"id": "m2", "session": "main", "text": "And?", "attempt": attempt}
    story.history.answered(**where, key=key, seam="inbox", value=value)
    story.say("I was interrupted twice at this.", "error", "failed")
    assert codes(session_heals(story.end())) == found


@pytest.mark.parametrize(("killed", "found"), [(False, ["session_heals.unasked"]), (True, [])])
def test_a_message_that_waited_through_a_kill_may_be_given_up(
    killed: bool, found: list[str]
) -> None:
    """It came in a turn with a fault, and its own begins behind a kill that names no session of
    it: the agent worked on another one."""
    story = Story().turn("Hello?", "m1").fail(529, **FAULTY).take("And?", "m2", reader=True)
    story.reply("1")
    story._name = "m1"
    story.say("1")
    if killed:
        story.history.killed(at="side/model#1", session="side")
    where, key = {**story._where(), "turn": 2}, story._key("outbox")
    request = OutboxRequest("error", "I stop.", "m2", "failed")
    story.history.called(**where, key=key, seam="outbox", request=request)
    story.history.answered(**where, key=key, seam="outbox")
    assert codes(session_heals(story.end())) == found


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


def test_an_answer_that_is_sent_with_a_note_is_an_answer() -> None:
    def ended(text: str) -> list[str]:
        story = _ill().turn("And?").reply("It is 41.").final(text, status="failed")
        return codes(session_heals(story.end()))

    assert ended("It is 41. [The check still fails.]") == []
    assert ended("Something else.") == ["session_heals.unanswered"]
    assert ended("It is 41.") == ["session_heals.unanswered"]
