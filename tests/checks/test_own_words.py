"""The agent's own words that come back as messages: from the third time on nothing is owed."""

from __future__ import annotations

import pytest

from harness.checks.message_delivery import inbound_exactly_once, outbound_once
from tests.checks.chronicle import ALL_SEAMS
from tests.checks.histories import Story, codes

NO_STORE = tuple(seam for seam in ALL_SEAMS if seam != "store")


@pytest.mark.parametrize(("echoes", "lost"), [(2, 1), (3, 0), (5, 0)])
def test_the_agents_own_words_that_come_back_again_and_again_need_nothing(
    echoes: int, lost: int
) -> None:
    story = Story(seams=NO_STORE).turn("one").reply("1").final("What now?")
    for number in range(echoes - 1):
        story.turn("What now?", f"n{number}").reply("2").final("What now?")
    history = story.turn("What now?", "last").turn("two").reply("2").final().end()
    found = [f for f in inbound_exactly_once(history) if "nothing is done" in f.message]
    assert len(found) == len([*outbound_once(history)]) == lost


def test_words_that_the_agent_never_said_are_no_echo() -> None:
    story = Story(seams=NO_STORE)
    for number in range(4):
        story.turn("What now?", f"n{number}").reply("2").final("It is done.")
    history = story.turn("What now?", "last").turn("two").reply("2").final().end()
    assert codes(outbound_once(history)) == ["outbound_once.missing"]
