"""A step that was under way at a kill may be begun again; nothing else is excused by one."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.prompt_size import compaction_progress, request_fits
from harness.checks.retries import no_blind_resend
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
