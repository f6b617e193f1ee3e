"""Halves of characters cannot be sent, so an agent is not blamed for sending the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.conversation import history_faithful
from harness.checks.evidence.stored_messages import squeeze
from harness.checks.message_delivery import inbound_exactly_once
from harness.core.history.history import decode, encode
from harness.core.values.messages import assistant, user
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes

NO_STORE = tuple(seam for seam in ALL_SEAMS if seam != "store")
HALF = "\udcff"


@pytest.mark.parametrize("sent", ["a file  x", "a file \ufffd x", "a file \ufffd\ufffd\ufffd x"])
def test_a_message_without_its_halves_is_the_message(sent: str) -> None:
    story = Story(seams=NO_STORE).turn(f"a file {HALF} x").reply("1", messages=[user(sent)])
    history = story.final().end()
    assert codes(inbound_exactly_once(history)) == []
    assert codes(inbound_exactly_once(decode(encode(history.events)))) == []


@pytest.mark.parametrize(
    ("kept", "found"), [("half ? end", []), ("whole", ["history_faithful.forgotten_reply"])]
)
def test_a_reply_with_a_mark_for_its_half_is_the_reply(kept: str, found: list[str]) -> None:
    story = (
        Story(seams=NO_STORE)
        .turn("one")
        .reply("half \ud83d end")
        .final("half \ud83d end")
        .turn("two")
    )
    story.reply("2", messages=[user("one"), assistant(kept), user("two")])
    history = story.final().end()
    assert codes(history_faithful(history)) == found
    assert codes(history_faithful(decode(encode(history.events)))) == found


def test_another_message_is_not() -> None:
    story = Story(seams=NO_STORE).turn(f"a file {HALF} x").reply("1", messages=[user("a")])
    assert codes(inbound_exactly_once(story.final().end())) == ["inbound_exactly_once.lost"]


@given(st.text())
def test_whole_characters_stay(text: str) -> None:
    if "\ufffd" not in text and "\\ud" not in text:
        assert squeeze(text) == "".join(text.split())


@given(st.text(), st.text())
def test_halves_are_nothing_wherever_they_stand(before: str, after: str) -> None:
    if "\\" not in before:
        assert squeeze(f"{before}{HALF}{after}") == squeeze(before + after)


def test_two_halves_that_fit_are_a_character() -> None:
    assert squeeze("\ud83d\ude00") == "\U0001f600"
