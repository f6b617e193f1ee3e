"""A step that was under way at a kill may be begun again; nothing else is excused by one."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.append_only import append_only_prefix
from harness.checks.conversation import history_faithful
from harness.checks.evidence.excuses import may_begin_again
from harness.checks.false_stops import no_false_stop
from harness.checks.message_delivery import inbound_exactly_once
from harness.checks.prompt_size import compaction_progress, request_fits
from harness.checks.retries import no_blind_resend
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes, use

AGAIN = ["no_blind_resend.same_request"]
LARGE: dict[str, Any] = {"status": 400, "error": "V23", "refused": ("V23",), "tokens": 1000}
SHORT = [user("short")]
NO_STORE = ("model", "tool", "inbox", "outbox")


def test_a_refused_request_may_be_made_once_more_after_a_kill() -> None:
    story = Story().turn("go").fail(400).killed().fail(400)
    assert codes(no_blind_resend(story.history)) == []
    assert codes(no_blind_resend(story.fail(400).end())) == AGAIN


def test_each_kill_is_one_more_beginning() -> None:
    story = Story().turn("go").fail(400).killed().fail(400).killed().fail(400)
    assert codes(no_blind_resend(story.end())) == []


def test_a_kill_between_other_requests_excuses_nothing() -> None:
    story = Story().turn("go").killed().fail(400).fail(400)
    assert codes(no_blind_resend(story.end())) == AGAIN


@pytest.mark.parametrize("came", ["tool", "stored answer", "answer", "ending"])
def test_what_came_of_a_request_before_the_kill_is_known(came: str) -> None:
    story = Story(seams=NO_STORE if came == "answer" else ALL_SEAMS).turn("go").fail(400)
    first = story.live[:1]
    if came == "tool":
        story.reply(use("list"), messages=SHORT).tool()
    elif came == "stored answer":
        story.reply("hm", messages=SHORT).row(assistant("hm"))
    elif came == "answer":
        story.reply("hm", messages=SHORT)
    else:
        story.say("It was refused.", "error", "failed")
    story.killed().fail(400, messages=first)
    assert codes(no_blind_resend(story.end())) == AGAIN


def test_what_came_and_was_not_stored_before_the_kill_is_not_known() -> None:
    story = Story().turn("go").fail(400)
    first = story.live[:1]
    story.reply("hm", messages=SHORT).killed().fail(400, messages=first)
    assert codes(no_blind_resend(story.end())) == []


def test_what_is_tried_instead_is_begun_again_too() -> None:
    story = Story().turn("go").fail(**LARGE)
    story.reply("sum", purpose="compact", messages=SHORT).killed().fail(**LARGE)
    assert codes(no_blind_resend(story.end())) == []
    assert codes(request_fits(story.history)) == []


def test_a_request_too_large_is_sent_once_more_after_a_kill_and_not_twice() -> None:
    story = Story().turn("go").fail(**LARGE).killed().fail(**LARGE)
    assert codes(request_fits(story.history)) == []
    assert codes(request_fits(story.fail(**LARGE).end())) == ["request_fits.again"]


def test_a_request_too_large_stays_so_when_the_kill_was_before_it() -> None:
    story = Story().turn("go").killed().fail(**LARGE).fail(**LARGE)
    assert codes(request_fits(story.end())) == ["request_fits.again"]


def test_a_summary_that_the_kill_has_taken_makes_nothing_smaller() -> None:
    story = Story().turn("go").fail(**LARGE).reply("sum", purpose="compact").killed()
    story.fail(**LARGE).reply("sum", purpose="compact").reply("x", messages=SHORT, tokens=10)
    assert codes(compaction_progress(story.final().end())) == []


def test_a_summary_that_makes_nothing_smaller_without_a_kill_is_told() -> None:
    story = Story().turn("go").killed().fail(**LARGE).reply("sum", purpose="compact")
    found = codes(compaction_progress(story.fail(**LARGE).end()))
    assert found == ["compaction_progress.larger"]


def test_a_compaction_that_failed_is_tried_again_after_a_kill_only() -> None:
    def tried(*, kill: bool) -> list[str]:
        story = Story().turn("go").fail(**LARGE).fail(400, purpose="compact")
        story = story.killed() if kill else story
        return codes(compaction_progress(story.reply("sum", purpose="compact").end()))

    assert tried(kill=True) == []
    assert tried(kill=False) == ["compaction_progress.repeated"]


def test_compactions_that_kills_have_ended_are_not_too_many() -> None:
    def tried(*, kills: int) -> list[str]:
        story = Story().turn("go")
        for part in range(4):
            story.reply("sum", purpose="compact", messages=[user(f"part {part}")])
            story = story.killed() if part < kills else story
        return codes(compaction_progress(story.reply("x").final().end()))

    assert tried(kills=2) == []
    assert "compaction_progress.too_many" in tried(kills=0)


def _answered_after_a_kill(*again: str) -> History:
    """The turn of m1 is killed and resumed, its reply is sent, and its message comes again."""
    story = Story().turn("go", "m1").killed().reply("done").final()
    for text in again:
        story.turn("go", "m1").reply(text).final()
    return story.end()


@pytest.mark.parametrize("again", [(), ("yes",), ("yes", "no")])
def test_a_kill_excuses_a_second_turn_until_the_reply_is_delivered(again: tuple[str, ...]) -> None:
    found = codes(inbound_exactly_once(_answered_after_a_kill(*again)))
    assert found.count("inbound_exactly_once.twice") == len(again)


def test_a_killed_turn_without_a_reply_may_begin_again() -> None:
    story = Story().turn("go", "m1").reply(use("list")).killed()
    again = story.turn("go", "m1").reply("done").final().end()
    assert "inbound_exactly_once.twice" not in codes(inbound_exactly_once(again))


@pytest.mark.parametrize("session", ["ada", "main"])
def test_a_compaction_explains_changes_of_its_own_session_only(session: str) -> None:
    story = Story().of("ada").turn("one").reply(use("list")).tool("a, b").reply("1").final()
    story.of(session).turn("two").reply("summary", purpose="compact", messages=SHORT).final()
    again = [user("one"), assistant("something else"), user("two")]
    story.of("ada").turn("two").reply("2", messages=again).final()
    found = codes(append_only_prefix(story.end()))
    assert found == ([] if session == "ada" else ["append_only_prefix.messages"])


def _compacted_in_the_second_turn() -> Story:
    story = Story().turn("one").reply("1").final().turn("two")
    story.reply("summary", purpose="compact", messages=[user("Summarise: one, 1")])
    return story.reply("the answer", messages=[user("Summary. two")]).final()


def test_a_compaction_does_not_explain_what_was_said_after_it() -> None:
    forgets = _compacted_in_the_second_turn().turn("three")
    forgets.reply("3", messages=[user("Summary. two"), user("three")])
    found = codes(history_faithful(forgets.final().end()))
    assert found == ["history_faithful.forgotten_reply"]
    keeps = _compacted_in_the_second_turn().turn("three").reply("3").final().end()
    assert codes(history_faithful(keeps)) == []


def test_a_compaction_does_not_explain_a_lost_result_of_a_later_call() -> None:
    story = _compacted_in_the_second_turn().turn("three").reply(use("list")).tool("a, b")
    story.reply("done", messages=[user("Summary. two"), assistant("the answer"), user("three")])
    found = codes(history_faithful(story.final().end()))
    assert found == ["history_faithful.forgotten_result"]


@pytest.mark.parametrize("failed_last", [False, True])
def test_a_failed_answer_excuses_a_stop_until_the_model_has_answered(failed_last: bool) -> None:
    story = Story().turn("go").fail(529).reply(use("list")).tool("a").reply(use("list")).tool("b")
    if failed_last:
        story.fail(529)
    found = codes(no_false_stop(story.reply("sorry", tools=False).final().end()))
    assert found == ([] if failed_last else ["no_false_stop.withdrawn"])


@pytest.mark.parametrize(("session", "may"), [("side", True), ("main", False), ("", False)])
def test_a_row_of_another_session_keeps_nothing_of_a_failed_request(
    session: str, may: bool
) -> None:
    """The agent has one store for its sessions, and works on both when it is killed."""
    story = Story(stores=False, settings={"own_store": True}).turn("go", "m1").row(user("go"))
    story.fail(400).row(assistant("x"), session=session).killed().take("go", "m1").fail(400)
    trace = story.final(status="failed").end().trace
    turn, (failed, again) = next(iter(trace.turns.values())), trace.exchanges
    assert may_begin_again(trace, turn, failed, again) is may
