"""retry_budget and backoff: how often, and how soon."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.evidence.turn_outcomes import asked_ms
from harness.checks.retries import backoff, no_blind_resend, retry_budget
from harness.core.history.history import History
from harness.core.values.messages import user
from harness.core.values.plans import Close, Wait
from tests.checks.histories import Story, codes

TRIED = [user("go")]


def tried(*waits_ms: int, status: int | None = 529, **answer: Any) -> History:
    """A request that fails, and fails again after each of the waits."""
    story = Story().turn("go").fail(status, messages=TRIED, **answer)  # type: ignore[arg-type]
    for wait_ms in waits_ms:
        story.wait(wait_ms).fail(status, messages=TRIED, **answer)  # type: ignore[arg-type]
    return story.final("no").end()


def test_six_attempts_are_allowed_and_seven_are_not_whoever_makes_them() -> None:
    assert codes(retry_budget(tried(*[500] * 5))) == []
    found = list(retry_budget(tried(*[500] * 8)))
    assert codes(found) == ["retry_budget.request"]
    assert len(found[0].events) == 7


def test_a_success_begins_anew() -> None:
    story = Story().turn("go")
    for _ in range(3):
        story.fail(529, messages=TRIED).fail(529, messages=TRIED)
        story.reply("x", messages=TRIED)
    assert codes(retry_budget(story.end())) == []


def test_a_turn_has_a_budget_whatever_is_asked() -> None:
    story = Story().turn("go")
    for number in range(13):
        story.fail(529, messages=[user(f"attempt {number}")])
    assert codes(retry_budget(story.end())) == ["retry_budget.turn"]


@pytest.mark.parametrize(("again", "found"), [(False, []), (True, ["retry_budget.turn"])])
def test_a_whole_answer_that_breaks_off_behind_its_end_fails_if_it_is_asked_for_again(
    again: bool, found: list[str]
) -> None:
    """The agent goes on from the others, so they did not fail."""
    story, cut = Story().turn("go"), {"complete": False, "outcome": "error", "said_all": True}
    for number in range(14):
        asked = [user(f"step {number // (1 + again)}")]
        story.reply("look_up", stop="tool_use", messages=asked, **cut)
    assert codes(retry_budget(story.end(), turn=6)) == found


def test_failures_that_are_spread_over_turns_are_allowed() -> None:
    story = Story()
    for number in range(7):
        story.turn(f"turn {number}").fail(529).fail(529).reply("ok").final()
    assert codes(retry_budget(story.end())) == []


def test_our_own_limit_is_no_failure_of_the_provider() -> None:
    assert codes(retry_budget(tried(*[1] * 20, error="limit.model_calls"))) == []


@pytest.mark.parametrize("status", [429, 500, 529, None])
def test_a_retry_waits(status: int | None) -> None:
    assert codes(backoff(tried(20, status=status))) == ["backoff.too_soon"]
    assert codes(backoff(tried(375, 750, status=status))) == []


@pytest.mark.parametrize(
    "answer", [{"status": 200, "complete": False}, {"status": 400}], ids=["cut stream", "refused"]
)
def test_what_says_nothing_of_load_needs_no_wait(answer: dict[str, Any]) -> None:
    assert codes(backoff(tried(0, **answer))) == []


def test_another_request_may_follow_at_once() -> None:
    story = Story().turn("go").fail(529).reply("x", messages=[user("something else")])
    assert codes(backoff(story.end())) == []


@pytest.mark.parametrize(
    ("asked", "wait_ms", "found"),
    [
        ("30", 30_000, []),
        ("30", 1_000, ["backoff.before_retry_after"]),
        ("120", 120_000, []),
        ("3600", 3_600_000, ["backoff.above_cap"]),
        ("3600", 1_000, ["backoff.above_cap"]),
        ("50 ms", 50, []),
        ("50 ms", 20, ["backoff.before_retry_after"]),
        ("43 ms", 43_200, ["backoff.misread"]),
        ("43 ms", 46_000, []),
        ("50 ms", 50_000, []),
        ("43", 43_000, []),
        ("0", 400, []),
        ("0", 0, []),
        ("Sat, 21 Nov 2026 08:00:00 GMT", 400, []),
        ("nan", 400, []),
        ("soon", 400, []),
    ],
)
def test_what_the_answer_asks_for_is_obeyed(asked: str, wait_ms: int, found: list[str]) -> None:
    assert codes(backoff(tried(wait_ms, status=429, retry_after=asked))) == found


@pytest.mark.parametrize(
    ("text", "ms"), [("1.5", 1500), ("20 ms", 20), ("-5", 0), ("", 0), ("inf", 0), ("1e9", 1e12)]
)
def test_a_wait_is_read_as_sdks_read_it(text: str, ms: float) -> None:
    assert asked_ms(text) == ms


@pytest.mark.parametrize(
    ("waits_ms", "found"),
    [
        ([5000, 5000, 5000, 5000], ["backoff.flat"]),
        ([1000, 800, 1200, 900], ["backoff.flat"]),
        ([400, 800, 400, 800], []),
        ([500, 1000, 2000, 4000], []),
        ([9000, 9000, 9000, 9000], []),
        ([5000, 5000, 5000], []),
    ],
    ids=["fixed", "only jitter", "two layers", "doubling", "at the ceiling", "too few"],
)
def test_waits_grow(waits_ms: list[int], found: list[str]) -> None:
    assert codes(backoff(tried(*waits_ms))) == found


def test_a_policy_says_which_wait_is_too_short_and_which_need_not_grow() -> None:
    assert codes(backoff(tried(20), least_ms=10)) == []
    assert codes(backoff(tried(375, 750), least_ms=500)) == ["backoff.too_soon"]
    assert codes(backoff(tried(*[3000] * 4))) == ["backoff.flat"]
    assert codes(backoff(tried(*[3000] * 4), ceiling_s=3)) == []


@pytest.mark.parametrize("asked", ["5", "0"])
def test_waits_that_were_asked_for_need_not_grow(asked: str) -> None:
    assert codes(backoff(tried(*[5000] * 4, status=429, retry_after=asked))) == []


def test_the_wait_begins_when_the_answer_has_come() -> None:
    assert codes(backoff(tried(5020, steps=(Wait(5000), Close())))) == ["backoff.too_soon"]
    assert codes(backoff(tried(2000, steps=(Wait(5000), Close())))) == []


def test_a_recording_has_no_times() -> None:
    story = Story(world="recording").turn("go").fail(529).fail(529)
    assert codes(backoff(story.end())) == []


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ((), ["no_blind_resend.same_request"]),
        (("sse.json_to_a_stream_request",), []),
        (("transport.trickle",), []),
    ],
)
def test_an_answer_that_a_client_could_not_read_may_be_asked_for_again(
    faults: tuple[str, ...], found: list[str]
) -> None:
    story = Story().turn("go")
    for _ in range(3):
        story.reply("half", stop="max_tokens", messages=TRIED, faults=faults)
    assert codes(no_blind_resend(story.final().end()))[:1] == found


@pytest.mark.parametrize(("after", "found"), [(6, []), (7, ["retry_budget.request"])])
def test_the_tries_of_a_request_begin_anew_after_a_kill(after: int, found: list[str]) -> None:
    story = Story(seams=("model", "inbox", "outbox")).turn("go", "m1")
    for _ in range(4):
        story.fail(529, messages=TRIED)
    story.killed().take("go", "m1")
    for _ in range(after):
        story.fail(529, messages=TRIED)
    assert codes(retry_budget(story.final(status="failed").end(), turn=20)) == found


def test_the_count_of_empty_answers_begins_anew_after_a_kill() -> None:
    """No store keeps the count, so the next life cannot know it."""
    story = Story(seams=("model", "inbox", "outbox")).turn("go", "m1")
    story.reply("", messages=TRIED).reply("", messages=TRIED).killed().take("go", "m1")
    for _ in range(3):
        story.reply("", messages=TRIED)
    assert codes(no_blind_resend(story.history)) == []
    story.reply("", messages=TRIED)
    assert codes(no_blind_resend(story.final().end())) == ["no_blind_resend.same_request"]
