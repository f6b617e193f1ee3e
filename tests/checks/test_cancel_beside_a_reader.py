"""What a reader takes while the agent works: a cancel that crosses a call, a blank message."""

from __future__ import annotations

from types import SimpleNamespace as _Some
from typing import Any

import pytest

from harness.checks.cancels import cancel_honoured
from harness.checks.evidence.messages_in_turn import came_in_turn
from harness.checks.message_delivery import inbound_exactly_once, outbound_once, turn_serial
from harness.core.values.messages import assistant, user
from tests.checks.histories import Story, codes, use


def _cancelled(*, by_reader: bool = True) -> Story:
    story = Story().turn("one").reply(use("list")).tool()
    return story.take(kind="cancel", reader=by_reader)


def _asks_again(story: Story) -> Story:
    return story.take("two", "m2", reader=True)


def test_a_cancel_that_the_reader_still_holds_crosses_what_is_done() -> None:
    story = _cancelled().reply(use("list")).tool().reply("1").final()
    history = _asks_again(story).end()
    assert not list(cancel_honoured(history))
    assert not [c for c in codes(outbound_once(history)) if c == "outbound_once.after_cancel"]


def test_a_cancel_that_the_reader_has_handed_on_is_seen() -> None:
    at_once, later = _asks_again(_cancelled()), _asks_again(_cancelled()).wait(1)
    assert not list(cancel_honoured(at_once.reply("1").final().end()))
    assert codes(cancel_honoured(later.reply("1").end())) == ["cancel_honoured.request"]


def test_a_cancel_that_the_reader_holds_for_long_is_seen() -> None:
    story = _cancelled()
    story.at_ms += 3_000
    assert codes(cancel_honoured(story.reply("1").final().end())) == ["cancel_honoured.request"]


@pytest.mark.parametrize(("waits_ms", "found"), [(9_000, []), (0, ["cancel_honoured.request"])])
def test_a_message_that_interrupts_counts_from_the_moment_at_which_it_comes(
    waits_ms: int, found: list[str]
) -> None:
    """A reader that asks early is answered once the message is due."""
    story = Story(settings={"profile": {"inbound": "interrupt"}}).turn("one")
    story.reply(use("list")).tool().take("two", "m2", reader=True, waits_ms=waits_ms)
    history = story.wait(5_000).reply("1").final().end()
    assert codes(cancel_honoured(history)) == found


def test_a_cancel_that_the_agent_asked_for_itself_is_seen() -> None:
    story = _cancelled(by_reader=False).reply("1").final()
    assert codes(cancel_honoured(_asks_again(story).end())) == ["cancel_honoured.request"]


@pytest.mark.parametrize(("stores", "found"), [(False, []), (True, ["cancel_honoured.request"])])
def test_a_stop_that_a_kill_took_at_once_is_known_to_no_later_life(
    stores: bool, found: list[str]
) -> None:
    """An agent that has written since it saw the stop could have kept it."""
    story = _cancelled(by_reader=False)
    if stores:
        story.row(user("I was stopped."))
    history = story.killed().reply("1", stop="end_turn").final().end()
    assert codes(cancel_honoured(history)) == found


@pytest.mark.parametrize(
    ("text", "at_ms", "found"),
    [("", 0, []), ("two", 0, ["inbound_exactly_once.late"]), ("two", 7_000, [])],
)
def test_a_blank_message_in_mid_turn_and_one_that_has_not_come_yet_are_not_late(
    text: str, at_ms: int, found: list[str]
) -> None:
    """A reader may be told ahead of a message that comes at a time."""
    came = _Some(n=5, inbound=_Some(id="m2", text=text, at_ms=at_ms))
    sent = {"succeeded": True, "added": True, "called": _Some(at_ms=0)}
    asked = [_Some(n=n, request=_Some(took=()), **sent) for n in (7, 9)]
    shared = {"session": "main", "main": asked, "readable": asked, "asks": [], "sendings": []}
    first = _Some(number=1, words="turn 1", came=[came], delivery=None, joined=[], **shared)
    own = _Some(number=2, words="turn 2", came=[], delivery=came, joined=[], **shared)
    policy = _Some(inbound_policy=lambda session: "steer")
    trace: Any = _Some(profile=policy, turns={1: first, 2: own}, kills=[])
    cases = list(came_in_turn(trace, first))  # type: ignore[arg-type]
    assert [code for case in cases for code in codes(case.findings)] == found


@pytest.mark.parametrize(("asks_again", "found"), [(False, []), (True, ["after_cancel"])])
def test_an_answer_under_way_as_a_message_interrupts_may_be_the_reply(
    asks_again: bool, found: list[str]
) -> None:
    story = Story(settings={"profile": {"inbound": "interrupt"}}).turn("one").reply("1")
    story.take("two", "m2", reader=True).wait(5_000)
    story = story.reply("1, and more") if asks_again else story
    codes_found = codes(outbound_once(story.final().end()))
    assert [code for code in codes_found if "after" in code] == [
        f"outbound_once.{f}" for f in found
    ]


def test_a_message_that_waits_may_have_the_words_of_an_answered_one() -> None:
    story = Story(stores=False).turn("one").reply("1").final().turn("two")
    story.take("one", "m3", reader=True).reply("2", messages=[user("two"), user("one")])
    assert "inbound_exactly_once.twice" not in codes(inbound_exactly_once(story.end()))


@pytest.mark.parametrize("taken", [False, True])
def test_a_message_that_waits_may_stand_in_the_words_of_another_one(taken: bool) -> None:
    story = Story(stores=False).turn("one, please").take("two", "m2", reader=True)
    story.take("one", "m3", reader=True)
    rows = [user("one, please")]
    for name, text in (("m1", "two"), ("m2", "one"), ("m3", "")):
        sent = [*rows, user("one")] if taken and name == "m1" else rows
        story.reply("Yes.", messages=sent)
        story._name = name
        story.say("Yes.")
        rows = [*rows, assistant("Yes."), user(text)]
    assert codes(turn_serial(story.end())) == (["turn_serial.overlap"] if taken else [])
