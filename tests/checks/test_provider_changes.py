"""A conversation that moves to another provider, and what only looks like a loss on the way."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.provider_changes import provider_change
from harness.core.values.messages import Message, assistant, user
from tests.checks.histories import Story, codes, use

SAID = "Pay the rent of 950, please."
RULES = "Never pay more than was agreed."
PAST = [user("My landlady is called Adelheid."), assistant("I shall remember that.")]


def _moved(messages: list[Message] | None = None, *, status: int = 529, **asked: Any) -> Story:
    """Two turns; the request of the second one fails, and another provider is asked."""
    story = Story().turn("My landlady is called Adelheid.").reply("I shall remember that.").final()
    story.turn(SAID).fail(status)
    story.provider = "openai-chat"
    return story.reply("The rent is paid.", messages=messages, **asked)


def test_a_conversation_that_moves_whole_is_not_found() -> None:
    assert codes(provider_change(_moved().final().end())) == []


def test_the_newest_message_that_stays_behind_is_lost() -> None:
    assert codes(provider_change(_moved(PAST).final().end())) == ["provider_change.message"]


def test_a_conversation_that_begins_anew_has_no_past() -> None:
    story = _moved([user(SAID)]).final()
    assert codes(provider_change(story.end())) == ["provider_change.past"]


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({"system": RULES}, []),
        ({"system": "Be brief."}, []),
        ({"messages": [user(f"{RULES}\n{PAST[0].text}"), PAST[1], user(SAID)]}, []),
        ({}, ["provider_change.system"]),
    ],
    ids=["there", "its own", "in a message", "lost"],
)
def test_the_system_text_goes_along(told: dict[str, Any], wanted: list[str]) -> None:
    story = Story()
    own = {"system": story.history.value(RULES)}
    story.turn(PAST[0].text).reply(PAST[1].text, request=own).final().turn(SAID)
    story.fail(529, request=own)
    story.provider = "openai-chat"
    named = {name: story.history.value(text) for name, text in told.items() if name == "system"}
    story.reply("Paid.", request=named, messages=told.get("messages"))
    assert codes(provider_change(story.final().end())) == wanted


@pytest.mark.parametrize(
    "story",
    [
        _moved([user(f"They said: {SAID}\nAdelheid: I shall remember that.")]).final(),
        _moved([user("A title?")]).final("I could not reach the model.", kind="error"),
        _moved([*PAST, user(SAID[:26])]).final(),
        _moved([user(SAID)], status=400).reply("x"),
    ],
    ids=["transcript", "title", "cut", "unused"],
)
def test_what_is_told_in_other_words_or_not_used_is_no_loss(story: Story) -> None:
    assert codes(provider_change(story.end())) == []


def test_a_call_that_ran_uses_the_answer() -> None:
    story = Story().turn("Hello to you.").reply("Hello.").final().turn(SAID).fail(529)
    story.provider = "openai-chat"
    story.reply(use("list", {"path": "a"}), messages=[user(SAID)]).tool("x")
    assert codes(provider_change(story.end())) == ["provider_change.past"]


def _away(*hours: float, back: bool = False, status: int = 529, away_s: float = 3600) -> list[str]:
    story = Story().turn("one").fail(status)
    story.provider = "openai-chat"
    story.reply("1").final()
    for at, hour in enumerate(hours):
        story.at_ms = int(hour * 3_600_000)
        story.provider = "" if back and not at else "openai-chat"
        story.turn(f"later {at}").reply("yes").final()
    return codes(provider_change(story.end(), away_s=away_s))


def test_a_session_that_never_comes_back_stays_away() -> None:
    assert _away(2, 3) == ["provider_change.stays"]
    assert _away(2, 3, away_s=3 * 3600) == []
    assert _away(0.5, 0.9, away_s=1200) == ["provider_change.stays"]


@pytest.mark.parametrize(
    ("models", "found"),
    [
        ("one two two two", ["provider_change.stays"]),
        ("one two two one", []),
        ("one one one one", []),
    ],
)
def test_a_session_that_never_comes_back_to_its_model_stays_away(
    models: str, found: list[str]
) -> None:
    first, *others = models.split()
    story = Story().turn("one").fail(529, request={"model": first})
    for hour, model in enumerate(others):
        story.at_ms = 2 * hour * 3_600_000
        if hour:
            story.turn(f"later {hour}")
        story.reply("yes", request={"model": model}).final()
    assert codes(provider_change(story.end())) == found


@pytest.mark.parametrize(
    ("hours", "told"),
    [((2,), {}), ((0.5, 0.9), {}), ((2, 3), {"back": True}), ((2, 3), {"status": 401})],
    ids=["once", "soon", "back", "for good"],
)
def test_who_comes_back_or_was_refused_for_good_does_not_stay(
    hours: tuple[float, ...], told: dict[str, Any]
) -> None:
    assert _away(*hours, **told) == []


def _asked_for(model: str, *, status: int = 404, first: int = 529) -> list[str]:
    """One turn: the first provider fails, and the second one is asked for a model."""
    story = Story().turn(SAID).fail(first, request={"model": "claude"})
    story.provider = "openai-chat"
    story.fail(status, request={"model": model}).fail(status, request={"model": model})
    return codes(provider_change(story.final("No.", status="failed").end()))


def test_a_model_of_the_first_provider_is_unknown_at_the_second_one() -> None:
    assert _asked_for("claude") == ["provider_change.model"]


@pytest.mark.parametrize(
    ("model", "told"),
    [("gpt", {}), ("claude", {"status": 529}), ("claude", {"first": 404})],
    ids=["gone", "served by both", "unknown to all"],
)
def test_a_name_of_its_own_or_of_both_is_no_foreign_one(model: str, told: dict[str, int]) -> None:
    assert _asked_for(model, **told) == []


def test_a_model_that_has_answered_at_both_and_is_gone_is_no_foreign_one() -> None:
    story = Story().turn(SAID).fail(529, request={"model": "claude"})
    story.provider = "openai-chat"
    story.reply("Yes.", request={"model": "claude"}).fail(404, request={"model": "claude"})
    assert codes(provider_change(story.final().end())) == []
