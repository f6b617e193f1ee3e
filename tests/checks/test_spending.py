"""A summary of a short conversation, turns that wake themselves, and what only looks like them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.spending import compaction_due, wake_budget
from harness.core.history.history import History
from harness.core.values.messages import user
from tests.checks.histories import Story, codes

EARLY = ["compaction_due.early"]


def _compacted(text: str = "And now?", tokens: int = 50, turns: int = 1, **answer: Any) -> Story:
    story = Story()
    for number in range(turns):
        story.turn(f"Message {number}").reply("Yes.", tokens=tokens, **answer).final()
    story.turn(text).reply("They said hi.", purpose="compact", messages=[user("Sum it up.")])
    return story.reply("Good.", messages=[user(f"Summary. {text}")]).final()


def test_a_summary_of_a_short_conversation_is_early() -> None:
    assert codes(compaction_due(_compacted().end())) == EARLY


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


def _compacted_each_time(
    *left: int, text: str = "And now?", grown: str = "", **answer: Any
) -> Story:
    """Turns with one compaction each, which leave so many tokens."""
    story = Story().turn("Hello?").reply("Yes.", tokens=10_000).final()
    for tokens in left:
        story.turn(text + grown).reply("A summary.", purpose="compact", tokens=9_000, **answer)
        story.reply("Good.", tokens=tokens).final()
    return story


def test_a_third_compaction_that_saves_nothing_is_useless() -> None:
    story = _compacted_each_time(10_100, 10_200, 10_300, 10_400)
    compactions = [c.n for c in story.history.trace.compactions]
    (finding,) = compaction_due(story.end())
    assert finding.code == "compaction_due.useless"
    assert finding.events == tuple(compactions[:3])


@pytest.mark.parametrize(
    "story",
    [
        _compacted_each_time(10_100, 10_200),
        _compacted_each_time(10_100, 9_000, 9_100, 5_000),
        _compacted_each_time(10_500, 11_000, 11_500, grown="x" * 4_000),
        _compacted_each_time(10_100, 10_200, 10_300, text="Please summarise it."),
        _compacted_each_time(10_100, 10_200, 10_300, complete=False, outcome="error"),
    ],
    ids=["twice", "helped", "grown", "asked", "failed"],
)
def test_a_compaction_may_come_again(story: Story) -> None:
    assert codes(compaction_due(story.end())) == []


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
