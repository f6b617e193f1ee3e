"""A reply that the store holds when a kill comes: the agent sends it, or tells of the stop."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.checks.message_delivery import outbound_once
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes

SAID = "Blue, as the sky."
FOUND = ["outbound_once.missing"]


def _killed(stored: str = SAID) -> Story:
    """A turn whose reply is stored, and which a kill ends before anything is sent."""
    story = Story(stores=False).turn("Name a colour.", "m1").reply(SAID)
    return story.row(user("Name a colour."), assistant(stored)).killed("main/outbox#1")


def _goes_on(story: Story) -> list[str]:
    return codes(outbound_once(story.turn("Which one?", "m2").reply("Blue.").final().end()))


def test_a_stored_reply_that_the_user_never_gets_is_missing() -> None:
    assert _goes_on(_killed()) == FOUND


@pytest.mark.parametrize(
    "told",
    [
        lambda story: story.say(f"(You may have this already.) {SAID}"),
        lambda story: story.say("I was restarted.", "notice"),
        lambda story: story.turn("Name a colour.", "m1").reply(SAID).final(),
    ],
    ids=["sent again", "told", "answered again"],
)
def test_what_a_restart_may_do_about_it(told: Callable[[Story], Story]) -> None:
    assert _goes_on(told(_killed())) == []


def test_without_the_reply_in_the_store_or_a_later_turn_nothing_is_known() -> None:
    assert _goes_on(_killed("Green.")) == []
    assert codes(outbound_once(_killed().end())) == []


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("timeout", "outbound_once.unconfirmed"), ("error", "outbound_once.missing")],
)
def test_a_reply_about_which_the_outbox_was_silent_is_a_weakness(outcome: str, code: str) -> None:
    """The agent cannot know that nothing has come; it knows so of a refusal."""
    story = Story().turn("one").reply("1").unsent("1", outcome)
    assert codes(outbound_once(story.end())) == [code]
