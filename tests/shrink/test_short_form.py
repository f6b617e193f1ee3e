"""Blocks in the short form, where it can say them."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import Scenario, SeedMessage, Session, Turn
from harness.core.scenario.script import model_reply
from harness.core.values.draws import Draws
from harness.shrink.short_form import short_forms
from tests.shrink.drive import candidates, last

TEXT = {"type": "text", "text": "Hello"}
THOUGHT = {"type": "thinking", "text": "Hm."}
USE = {"type": "tool_use", "name": "look", "input": {"a": 1}}

SHORT = {
    "say": (Turn(blocks=(TEXT,), times=3), Turn(say="Hello", times=3)),
    "use": (Turn(blocks=(USE,)), Turn(use="look", input={"a": 1})),
    "all": (
        Turn(blocks=(THOUGHT, TEXT, USE)),
        Turn(think="Hm.", say="Hello", use="look", input={"a": 1}),
    ),
}


@pytest.mark.parametrize("what", SHORT)
def test_a_turn_says_the_same_in_short(what: str) -> None:
    long, short = SHORT[what]
    found = last(short_forms(Scenario(name="s", script=(long,))), lambda s: True)
    assert found == Scenario(name="s", script=(short,))
    assert model_reply(long, Draws(0), "k") == model_reply(short, Draws(0), "k")


@pytest.mark.parametrize(
    "turn",
    [
        Turn(blocks=(TEXT, THOUGHT)),
        Turn(blocks=(TEXT, TEXT)),
        Turn(blocks=({"type": "image"},)),
        Turn(say="x", blocks=(TEXT,)),
        Turn(say="x"),
    ],
)
def test_what_the_short_form_cannot_say_stays(turn: Turn) -> None:
    assert candidates(short_forms(Scenario(name="s", script=(turn,)))) == []


def test_a_stored_text_stands_without_a_list() -> None:
    stored = (SeedMessage(role="user", content=(TEXT,)), SeedMessage(role="user", content=(USE,)))
    found = last(short_forms(Scenario(name="s", session=Session(messages=stored))), lambda s: True)
    assert found is not None
    assert found.session.messages == (SeedMessage(role="user", content="Hello"), stored[1])
