"""What a start reads back: the session that is stored."""

from __future__ import annotations

import pytest

from harness.checks.persistence import reload_equivalence
from harness.core.values.messages import Message, Text, assistant, results, user
from tests.checks.histories import Story, codes, use

PAST = (user("My name is Ada."), assistant("Hello, Ada."))


def _begun(*stored: Message, live: tuple[Message, ...] | None = None) -> Story:
    """An agent starts on a stored session, and works with what it has of it."""
    story = Story(stores=False).row(*stored)
    story.live += stored if live is None else live
    story.turn("Who am I?").row(user("Who am I?"), labels=["m1"])
    return story.reply("Ada.").row(assistant("Ada.")).final()


def test_an_agent_that_goes_on_where_it_was() -> None:
    assert not list(reload_equivalence(_begun(*PAST).end()))


def test_a_blank_page_is_a_finding() -> None:
    story = _begun(*PAST, live=())
    (finding,) = reload_equivalence(story.end())
    assert finding.code == "reload_equivalence.forgotten"
    assert finding.events[0] == 1


def test_only_what_was_said_last_is_asked_for() -> None:
    long = (*PAST, user("I live in Oslo."), assistant("A fine place."))
    assert not list(reload_equivalence(_begun(*long, live=long[2:]).end()))
    forgot = _begun(*long, live=PAST)
    assert codes(reload_equivalence(forgot.end())) == ["reload_equivalence.forgotten"]


@pytest.mark.parametrize(
    "stored",
    [
        (user("My name is Ada."),),
        (assistant("Hello, Ada."),),
        (user(""), assistant("Hello, Ada.")),
        (results(), assistant("Hello, Ada.")),
        (user("Look."), Message("assistant", (Text("I will."), use("list", id="t1")))),
    ],
    ids=["no reply", "no question", "a blank one", "no words of the user's", "work in progress"],
)
def test_what_no_request_need_hold_may_be_left_out(stored: tuple[Message, ...]) -> None:
    assert not list(reload_equivalence(_begun(*stored, live=()).end()))


def test_a_reply_that_was_taken_out_of_the_store_is_not_asked_for() -> None:
    story = Story(stores=False).row(*PAST).gone("r1", "r2")
    story.turn("Hi.").row(user("Hi."), labels=["m1"]).reply("Yes?").row(assistant("Yes?")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))


def test_a_summary_may_stand_in_the_place_of_the_past() -> None:
    story = Story(stores=False).row(*PAST).turn("Who am I?").row(user("Who am I?"), labels=["m1"])
    story.reply("The user is Ada.", purpose="compact").reply("Ada.").row(assistant("Ada.")).final()
    assert "reload_equivalence.forgotten" not in codes(reload_equivalence(story.end()))
