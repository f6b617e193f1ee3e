"""A summary of a short conversation, turns that wake themselves, and what only looks like them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.spending import compaction_due, wake_budget
from harness.core.history.history import History
from harness.core.values.messages import assistant, user
from harness.core.values.plans import Wait
from tests.checks.histories import Story, codes, use

EARLY = ["compaction_due.early"]
MISSED = ["compaction_due.missed"]


def _compacted(text: str = "And now?", tokens: int = 50, turns: int = 1, **answer: Any) -> Story:
    story = Story()
    for number in range(turns):
        story.turn(f"Message {number}").reply("Yes.", tokens=tokens, **answer).final()
    story.turn(text).reply("They said hi.", purpose="compact", messages=[user("Sum it up.")])
    return story.reply("Good.", messages=[user(f"Summary. {text}")]).final()


def test_a_summary_of_a_short_conversation_is_early() -> None:
    assert codes(compaction_due(_compacted().end())) == EARLY
    assert codes(compaction_due(_compacted(text="x" * 2_000).end())) == EARLY, "500 tokens"


@pytest.mark.parametrize(
    "story",
    [
        _compacted(tokens=1_500),
        _compacted(usage={"input_tokens": 1_500, "output_tokens": 3}),
        _compacted(text="x" * 8_000),
        _compacted(text="Please summarise what we said."),
        _compacted(turns=11),
        Story().turn("one").fail(400, "V23", refused=("V23",)).reply("s", purpose="compact"),
        Story().turn("one").fail(413).reply("s", purpose="compact"),
        Story().turn("one").reply("1").final(),
    ],
    ids=["long", "usage", "message", "asked", "rows", "refused", "413", "none"],
)
def test_what_is_long_refused_or_asked_for_may_be_compacted(story: Story) -> None:
    assert codes(compaction_due(story.end())) == []


WORDS = "We are four, and one of us walks with a stick."


def _each_turn(
    turns: int = 3, text: str = "", summary: str = "", refused: bool = False, used: int = 0
) -> list[str]:
    """`used`: the input tokens that the provider counts in each answer; odd, half of them later."""
    counts: Any = {"usage": {"input_tokens": used}} if used else {}
    story = Story().turn(WORDS).reply("Yes.", tokens=1_500, **counts).final()
    story.turn("Where to?").reply("To Oslo.", tokens=1_500, **counts).final()
    for number in range(turns):
        story.turn(f"Question {number}. {text}")
        if refused:
            story.fail(400, "V23", refused=("V23",))
        story.reply("Four people.", purpose="compact", messages=[user("Sum it up.")])
        sent = [user(f"{summary} {number}"), assistant("Yes."), user(f"Question {number}. {text}")]
        story.reply("Yes.", messages=sent if summary else None, **counts).final()
        counts = {"usage": {"input_tokens": used // 2}} if used % 2 else counts
    return codes(compaction_due(story.end()))


def test_a_summary_in_each_turn_makes_no_room() -> None:
    assert _each_turn() == ["compaction_due.every_turn"]
    assert _each_turn(turns=5) == ["compaction_due.every_turn"]


def test_summaries_after_which_the_usage_stays_the_same_make_no_room() -> None:
    assert _each_turn(summary="So far:", used=204_000) == ["compaction_due.every_turn"]
    assert _each_turn(summary="So far:", used=204_000, turns=2) == []
    assert _each_turn(summary="So far:", used=204_001) == [], "one summary made it half as large"


@pytest.mark.parametrize(
    "given",
    [{"turns": 2}, {"text": "Please summarise it."}, {"summary": "So far:"}, {"refused": 1}],
    ids=["two", "asked", "room", "refused"],
)
def test_summaries_that_make_room_or_are_asked_for_may_come_each_turn(given: Any) -> None:
    assert _each_turn(**given) == []


def _full(
    depth: int = 2,
    helped: bool = False,
    compacts: str = "And now?",
    past: str = "nil " * 200,
    listed: str = "a, b",
    asked: str = "",
    error: str = "V23",
    text: str = "one",
) -> list[str]:
    story = Story().turn("zero").reply(past).final() if past else Story()
    story.turn(text)
    for _ in range(depth):
        story.reply(use("list", {"name": asked})).tool(listed)
    story.fail(400, error, refused=("V6", "V23"))
    if helped:
        story.reply("s", purpose="compact", messages=[user("Sum it up.")])
    story.final(status="failed")
    if compacts:
        story.turn(compacts).reply("s", purpose="compact", messages=[user("Sum it up.")])
        story.reply("Good.").final()
    return codes(compaction_due(story.end()))


def test_a_turn_that_ends_at_the_window_misses_the_compaction_of_other_turns() -> None:
    assert _full() == MISSED
    assert _full(past="", listed="a, b" * 200) == MISSED


@pytest.mark.parametrize(
    "given",
    [
        *({"depth": 0}, {"helped": True}, {"compacts": ""}, {"compacts": "Summarise it."}),
        *({"past": ""}, {"past": "nil"}, {"past": "", "listed": "a, b" * 110}),
        {"past": "", "asked": "a, b" * 200},
        {"error": "V6"},
        {"helped": True, "text": "I cannot shorten it any more."},
    ],
    ids=[
        *("little", "tried", "never", "asked", "nothing before the turn", "little before"),
        *("a few lines", "calls that are long", "refused for another rule"),
        "tried on words about it",
    ],
)
def test_an_agent_that_never_compacts_or_tried_may_end_at_the_window(given: Any) -> None:
    assert _full(**given) == []


@pytest.mark.parametrize(("arrives_ms", "expected"), [(900_000, []), (0, MISSED)])
def test_a_refusal_that_had_not_arrived_is_no_reason_to_compact(
    arrives_ms: int, expected: list[str]
) -> None:
    story = Story().turn("zero").reply("nil " * 200).final().turn("one")
    story.reply(use("list")).tool("a, b").reply(use("list")).tool("a, b")
    story.fail(413, "V23", refused=("V23",), steps=(Wait(arrives_ms),)).wait(60_000)
    story.final(status="failed")
    story.turn("And?").reply("s", purpose="compact", messages=[user("Sum it up.")])
    assert codes(compaction_due(story.reply("Good.").final().end())) == expected


@pytest.mark.parametrize("stored", [True, False])
def test_a_past_that_no_request_shows_was_there_to_compact(stored: bool) -> None:
    """The store holds a blank row, which the agent leaves out of requests and may sum up."""
    story = Story()
    if stored:
        story.row(user(" \n"))
    story.turn("one").reply("s", purpose="compact", messages=[user("Sum it up.")])
    story.fail(400, "V23", refused=("V23",)).final(status="failed")
    story.of("Main").turn("two")
    for _ in range(2):
        story.reply(use("list")).tool("a, b")
    story.fail(400, "V23", refused=("V23",)).final(status="failed")
    assert codes(compaction_due(story.end())) == ([] if stored else MISSED)


def test_a_request_whose_last_step_is_most_of_it_cannot_be_made_to_fit() -> None:
    """Nothing that stands before the step could be shortened enough."""

    def full(first: str, last: str) -> list[str]:
        story = Story().turn("zero").reply(first).final().turn("one")
        story.reply(use("list")).tool("x").reply(use("list")).tool(last)
        story.fail(400, "V23", refused=("V23",), size_bytes=3_000).final(status="failed")
        story.turn("And now?").reply("s", purpose="compact", messages=[user("Sum it up.")])
        return codes(compaction_due(story.reply("Good.").final().end()))

    assert full("a" * 2_000, "b") == MISSED
    assert full("a", "b" * 2_000) == []


def _woken(*texts: str, tokens: int = 400_000) -> History:
    story = Story()
    for text in texts:
        story.turn(text).reply("Nothing.", tokens=tokens).final()
    return story.end()


BEAT = "[heartbeat] What is open?"


def test_turns_that_wake_themselves_have_one_budget() -> None:
    assert codes(wake_budget(_woken(*[BEAT] * 8))) == ["wake_budget.tokens"]
    assert codes(wake_budget(_woken(*["Cron: nightly"] * 8))) == ["wake_budget.tokens"]


def test_a_user_who_writes_begins_the_budget_anew() -> None:
    assert codes(wake_budget(_woken(BEAT, BEAT, "Hello.", BEAT, BEAT, "Hello.", BEAT, BEAT))) == []


def test_users_and_small_heartbeats_have_no_such_finding() -> None:
    assert codes(wake_budget(_woken(*["What is a heartbeat?"] * 8))) == []
    assert codes(wake_budget(_woken(*[BEAT] * 8, tokens=1_000))) == []


def test_the_request_that_crosses_the_ceiling_is_no_finding() -> None:
    assert codes(wake_budget(_woken(BEAT, BEAT, BEAT))) == []


def test_a_budget_that_is_used_up_exactly_is_kept() -> None:
    history = _woken(BEAT, BEAT)
    (finding,) = wake_budget(history, tokens=1)
    spent = int(finding.message.partition(" have spent ")[2].split()[0])
    assert codes(wake_budget(history, tokens=spent - 1)) == ["wake_budget.tokens"]
    assert codes(wake_budget(history, tokens=spent)) == []
