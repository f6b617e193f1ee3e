"""Failures of earlier turns that end a turn, of a tool and of the model."""

from __future__ import annotations

import pytest

from harness.checks.false_stops import no_false_stop
from harness.checks.recovery import session_heals
from tests.checks.histories import Story, codes, use


def _failing_turns(*errors: str, goes_on: int = 2) -> list[str]:
    """Turns with one failed call each; the model is asked again in the first `goes_on` of them."""
    story = Story()
    for number, error in enumerate(errors):
        story.turn(f"drawer {number}").reply(use("list", {"path": str(number)}))
        story.tool(error, error=True)
        if number < goes_on:
            story.reply(f"It failed: {error}").final()
        else:
            story.final("Too many errors.", status="failed", kind="error")
    return codes(no_false_stop(story.end()))


def test_a_count_of_failures_that_runs_on_over_turns_stops_falsely() -> None:
    assert _failing_turns("locked", "stuck", "gone") == ["no_false_stop.unasked"]
    assert _failing_turns("locked", "locked", "locked") == ["no_false_stop.unasked"]


def test_a_failure_may_end_each_turn_or_a_turn_with_more_of_them_than_before() -> None:
    assert _failing_turns("locked", "stuck", "gone", goes_on=0) == []
    assert _failing_turns("locked", "stuck", goes_on=1) == []


@pytest.mark.parametrize(
    ("pause_ms", "failures", "status", "rules"),
    [
        (4_000_000, 1, 529, ["no_false_stop.unasked"]),
        (60_000, 1, 529, []),  # a breaker may look at the last minutes
        (4_000_000, 2, 529, ["no_false_stop.unasked"]),
        (4_000_000, 3, 529, []),  # more than the turns before
        (4_000_000, 1, 503, []),
    ],
)
def test_failed_answers_of_earlier_turns_do_not_count(
    pause_ms: int, failures: int, status: int, rules: list[str]
) -> None:
    story = Story()
    for number in range(2):
        story.turn(f"day {number}").fail(529).fail(529).reply("yes").final().wait(pause_ms)
    story.turn("day 3")
    for _ in range(failures):
        story.fail(status)
    story.final("The model is overloaded.", status="failed", kind="error")
    assert codes(no_false_stop(story.end())) == rules


@pytest.mark.parametrize(("took_ms", "found"), [(9_000, True), (40_000, False)])
def test_a_deadline_may_end_equally_many_tries_that_took_longer(took_ms: int, found: bool) -> None:
    story = Story()
    for number in range(2):
        story.turn(f"day {number}").fail(529).wait(took_ms).fail(529).reply("yes").final()
        story.wait(4_000_000)
    story.turn("day 3").fail(529).wait(took_ms).fail(529)
    story.final("The model is overloaded.", status="failed", kind="error")
    assert (codes(no_false_stop(story.end())) == ["no_false_stop.unasked"]) == found


def test_a_call_that_is_refused_for_another_turn_is_told_with_the_failure_there() -> None:
    story = Story().turn("go").reply(use("list")).tool("locked", error=True)
    story.reply("It is locked.").final().turn("again").reply(use("list")).refuse()
    (found,) = no_false_stop(story.reply("sorry").final(status="failed").end())
    assert found.message.endswith("in its turn; main/tool#1 failed in another one")


@pytest.mark.parametrize(("status", "is_found"), [("waiting", False), ("failed", True)])
def test_a_turn_may_end_at_once_while_a_call_of_an_earlier_one_waits_for_the_user(
    status: str, is_found: bool
) -> None:
    story = Story().turn("pay").fail(529, faults=("http.overloaded",)).reply(use("pay"))
    story.final("May I?", status="waiting")
    story.turn("well?").final("I wait for your word", status=status, kind="final")
    found = codes(no_false_stop(story.end())) + codes(session_heals(story.end()))
    assert found == ["no_false_stop.unasked", "session_heals.unasked"] * is_found


def test_a_call_that_the_user_denies_each_time_is_a_reason_to_stop_beside_others() -> None:
    def stopped(times: int) -> list[str]:
        story = Story(settings={"tools": {"pay": {}, "list": {}}}).turn("go")
        for number in range(times):
            story.reply(use("pay"), use("list", {"page": number})).ask("deny").refuse("No.")
            story.tool(f"page {number}")
        return codes(no_false_stop(story.final("I stop.", status="failed", kind="error").end()))

    assert stopped(2) == ["no_false_stop.ended"]
    assert stopped(3) == []
