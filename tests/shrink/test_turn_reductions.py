"""Plain answers: a call goes where a word would do, and its tool with it; then the short form."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import (
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    Turn,
)
from harness.core.scenario.script import model_reply
from harness.core.values.draws import Draws
from harness.shrink import shrink
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import PLAIN, plain_answers, short_forms
from tests.shrink.drive import candidates, last

CALLS = Scenario(
    name="calls",
    inbox=(InboxItem(text="Look."),),
    tools={"look": ToolScript(), "ping": ToolScript()},
    script=(Turn(use="look", times=3), Turn(use="ping"), Turn(say="x", purpose="compact")),
)


def test_one_plain_answer_will_often_do() -> None:
    found = last(plain_answers(CALLS), lambda s: True)
    assert found == Scenario(name="calls", inbox=CALLS.inbox, script=(PLAIN,))


def test_else_each_turn_that_may_be_plain_is() -> None:
    found = last(plain_answers(CALLS), lambda s: "ping" in s.tools)
    assert found is not None
    assert turns_of(found) == (PLAIN, Turn(use="ping"), Turn(say="Yes.", purpose="compact"))
    assert list(found.tools) == ["ping"]


def test_a_tool_with_a_fault_on_it_stays() -> None:
    fault = FaultSpec(kind="tools.empty", on="tool:look")
    faulty = Scenario(name="f", tools=CALLS.tools, script=CALLS.script, faults=(fault,))
    first = candidates(plain_answers(faulty))[0]
    assert list(first.tools) == ["look"]


def test_a_call_that_does_not_matter_ends_as_a_word() -> None:
    two = shrink(CALLS, lambda s: len(turns_of(s)) >= 2 and bool(s.inbox)).scenario
    assert [turn.use for turn in turns_of(two)] == [None, None]
    assert two.tools == {}


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
