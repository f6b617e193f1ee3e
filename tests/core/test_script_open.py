"""An open script goes on past its end, and a repetition ends with the message it was begun for."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.history.past import Past
from harness.core.scenario.scenario import RequestText, ToolScript, ToolTurn, Turn
from harness.core.scenario.script import ToolScripts, TurnScript
from harness.core.values.calls import Call, ModelRequest, Purpose
from harness.core.values.draws import Draws
from harness.core.values.messages import Message, Opaque, Text, ToolResult, ToolUse, user
from harness.core.values.plans import Reply
from tests.core.script_play import call, due, played

LOOP = Turn(use="t", times=60)
CLOSING = Turn(say="I stop here.", when="ended")


def _open(*turns: Turn) -> TurnScript:
    return TurnScript(turns, Draws(1), "open")


def _past_end(*turns: Turn, purpose: Purpose = "main") -> str:
    script, past = _open(*turns), Past()
    for index, turn in enumerate(turns):
        played(past, index, f"model:{turn.purpose}", times=99)
    found = script.reply(call(purpose), past)
    assert found is not None
    reply, index = found
    assert isinstance(reply, Reply)
    assert (index, reply.stop) == (None, "end_turn")
    return "".join(block.text for block in reply.blocks if isinstance(block, Text))


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        ((Turn(say="a"), Turn(say="b")), "b"),
        ((Turn(say="a"), Turn(say="cut", stop="max_tokens")), "a"),
        ((Turn(say="a"), Turn(use="t"), Turn(say=" ")), "a"),
        ((LOOP, CLOSING), "I stop here."),
        ((LOOP,), "That is all."),
        ((Turn(say="a", blocks=({"type": "tool_use", "name": "t"},)),), "That is all."),
    ],
)
def test_past_the_end_the_last_closing_turn_is_said_again(
    turns: tuple[Turn, ...], text: str
) -> None:
    assert _past_end(*turns) == text


def test_each_lane_closes_for_itself() -> None:
    turns = (Turn(say="a"), Turn(say="They met.", purpose="compact"))
    assert _past_end(*turns, purpose="compact") == "They met."
    assert _past_end(*turns, purpose="aux") == "OK"


def test_a_strict_script_ends() -> None:
    assert due(TurnScript([Turn(say="a")], Draws(1)), played(Past(), 0)) is None


def _delivered(past: Past, name: str) -> None:
    inbound = {"id": name, "session": "main"}
    past.see_answered(f"main/inbox#{name}", "inbox", value=inbound)


def _plays(past: Past, index: int) -> None:
    asked = call()
    past.see_called(asked.key, "model", "main", asked.request)
    past.see_answered(asked.key, "model", index)


@pytest.mark.parametrize(
    ("policy", "first", "expected"),
    [("open", LOOP, 2), ("strict", LOOP, 0), ("open", Turn(say="x", times=60), 0)],
)
def test_a_repeated_call_of_tools_ends_with_its_message(
    policy: Any, first: Turn, expected: int
) -> None:
    past, script = Past(), TurnScript([first, CLOSING, Turn(say="Hello.")], Draws(1), policy)
    _delivered(past, "m1")
    _plays(past, 0)
    assert due(script, past) == 0, "the message is worked on"
    _delivered(past, "m2")
    assert due(script, past) == expected


def test_a_message_that_comes_again_goes_on_with_the_repetition() -> None:
    past, script = Past(), _open(LOOP, Turn(say="Hello."))
    _delivered(past, "m1")
    _plays(past, 0)
    past.see_killed()
    _delivered(past, "m1")
    assert due(script, past) == 0


def test_a_tool_of_an_open_script_repeats_its_last_turn() -> None:
    turns = (ToolTurn(error="busy"), ToolTurn(ok="done"))
    tools, past = ToolScripts({"t": ToolScript(script=turns)}, "open"), Past()
    said = []
    for _ in range(4):
        found = tools.due("t", past)
        assert found is not None
        said.append(found[0].ok if found[1] else "busy")
        past.last_played["tool:t"] = found[1]
        past.plays["tool:t", found[1]] += 1
    assert said == ["busy", "done", "done", "done"]


MESSAGES = (
    user("I am ADA."),
    Message("assistant", (ToolUse("t1", "find", {"where": ["the attic"]}),)),
    Message("user", (ToolResult("t1", (Text("a map"), Opaque("image", {"alt": "a cellar"}))),)),
    Message("tool", (ToolResult("t2", "a lamp"),)),
)


@pytest.mark.parametrize("text", ["Ada", "attic", "a map", "cellar", "lamp", "be brief"])
def test_a_turn_may_ask_what_the_request_has(text: str) -> None:
    asked = Call(
        "main/model#1", "model", 1, "main", 1, 0, ModelRequest("m", ()),
        messages=MESSAGES, system="Be brief.",
    )  # fmt: skip
    turns = [
        Turn(say="no", when=RequestText(lacks=text)),
        Turn(say="yes", when=RequestText(has=text)),
    ]
    script = TurnScript(turns, Draws(1))
    assert due(script, Past(), asked) == 1
    assert due(script, Past(), call()) == 0


def test_of_two_texts_both_count() -> None:
    wanted = RequestText(has="hi", lacks="bye")
    script = TurnScript([Turn(say="x", when=wanted), Turn(say="y")], Draws(1))
    assert due(script, Past(), call()) == 0
    both = Call(
        "main/model#1", "model", 1, "main", 1, 0, ModelRequest("m", ()),
        messages=(user("hi"), user("bye")),
    )  # fmt: skip
    assert due(script, Past(), both) == 1


def test_an_inbound_message_is_worked_on_until_the_next() -> None:
    past = Past()
    _delivered(past, "m1")
    assert past.is_worked_on(("main", "m1"))
    _delivered(past, "m2")
    assert (past.is_worked_on(("main", "m1")), past.is_worked_on(("main", "m2"))) == (False, True)
