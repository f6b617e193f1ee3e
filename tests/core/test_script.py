from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Call, ModelRequest, ToolRequest
from harness.core.draws import Draws
from harness.core.errors import InputError
from harness.core.messages import Message, Opaque, Text, Thinking, ToolResult, ToolUse
from harness.core.past import Past
from harness.core.plans import Reply, ToolAnswer
from harness.core.scenario import ToolScript, ToolTurn, Turn
from harness.core.script import (
    ToolScripts,
    TurnScript,
    block_from,
    count,
    describe,
    model_reply,
    tool_answer,
)
from tests.core import world


def call(purpose: Any = "main", *, tools: bool = True, results: tuple[str, ...] = ()) -> Call:
    request = ModelRequest("m", (), tools_offered=tools)
    last = Message("user", tuple(ToolResult(name, "r") for name in results) or (Text("hi"),))
    return Call("main/model#1", "model", 1, "main", 1, 0, request, purpose, (last,))


def played(past: Past, index: int, lane: str = "model:main", times: int = 1) -> Past:
    past.last_played[lane] = index
    past.plays["model", index] += times
    return past


def due(script: TurnScript, past: Past, asked: Call | None = None) -> int | None:
    found = script.reply(asked or call(), past)
    return None if found is None else found[1]


# The semantics once more, as a list: what is left to play, in order.


class Model:
    def __init__(self, turns: list[Turn]) -> None:
        self.lanes: dict[str, list[tuple[int, Turn, int]]] = {}
        for index, turn in enumerate(turns):
            self.lanes.setdefault(turn.purpose, []).append((index, turn, 0))

    def due(self, purpose: str, offered: bool) -> int | None:
        left = self.lanes.get(purpose, [])
        holds = [turn.when is None or not offered for _, turn, _ in left]
        while left:
            place = next((i for i, ok in enumerate(holds) if ok), None)
            if place is None:
                return None
            if left[place][2]:
                for later in range(place + 1, len(left)):
                    if left[later][1].when is None:
                        break
                    if holds[later]:
                        return left[later][0]
            return left[place][0]
        return None

    def consume(self, purpose: str, index: int) -> None:
        left = self.lanes[purpose]
        place = next(i for i, (number, _, _) in enumerate(left) if number == index)
        number, turn, plays = left[place]
        over = plays + 1 >= count(turn.times)
        self.lanes[purpose] = (
            left[place + 1 :] if over else [(number, turn, plays + 1), *left[place + 1 :]]
        )


turns = st.lists(
    st.builds(
        Turn,
        say=st.just("x"),
        times=st.sampled_from([1, 1, 2, 3, "forever"]),
        when=st.sampled_from([None, None, "ended"]),
        purpose=st.sampled_from(["main", "main", "compact"]),
        optional=st.booleans(),
    ),
    max_size=6,
)
outcomes = st.lists(
    st.tuples(st.sampled_from(["main", "main", "compact"]), st.booleans(), st.booleans()),
    max_size=30,
)


@given(turns, outcomes)
def test_a_script_is_a_list_of_which_a_turn_goes_when_its_value_left_whole(
    given_turns: list[Turn], asked: list[tuple[str, bool, bool]]
) -> None:
    model, script, past = Model(given_turns), TurnScript(given_turns, Draws(1)), Past()
    for purpose, offered, whole in asked:
        found = due(script, past, call(purpose, tools=offered))
        assert found == model.due(purpose, offered)
        if found is not None and whole:
            model.consume(purpose, found)
            played(past, found, f"model:{purpose}")
    owed = [
        t for i, t in enumerate(given_turns) if not (t.when or t.optional or past.plays["model", i])
    ]
    assert len(list(script.unplayed(past))) == len(owed)


@given(turns, outcomes)
def test_the_transition_consumes_what_the_model_consumes(
    given_turns: list[Turn], asked: list[tuple[str, bool, bool]]
) -> None:
    """The same through the real seam: `whole` is False where the client gives up before the end."""
    model = Model(given_turns)
    run = world.run(
        *(given_turns or [Turn(say="x", purpose="aux")]),
        fault={"kind": "transport.latency", "wait_s": 5, "often": "forever", "must_fire": False},
    )
    for purpose, offered, whole in asked:
        expected = model.due(purpose, offered)
        world.ask(
            run,
            tools=offered,
            headers={"x-harness-purpose": purpose},
            timeout_ms=None if whole else 1000,
        )
        answered = world.answers(run)[-1]
        assert answered.script_turn == (expected if whole else None)
        assert (answered.error == "script.exhausted") == (expected is None)
        if expected is not None and whole:
            model.consume(purpose, expected)


def test_a_conditional_turn_ends_a_running_times_and_no_other() -> None:
    script = TurnScript([Turn(use="t", times=25), Turn(say="no", when="ended")], Draws(1))
    past = Past()
    assert due(script, past, call(tools=False)) == 0, "nothing runs yet"
    assert due(script, played(past, 0), call()) == 0
    assert due(script, past, call(tools=False)) == 1
    assert due(script, played(past, 1), call()) is None, "the running turn has ended for good"


def test_of_two_conditions_that_hold_the_first_one_is_played() -> None:
    both = [Turn(use="t"), Turn(say="a", when="refused"), Turn(say="b", when="ended")]
    script, past = TurnScript(both, Draws(1)), played(Past(), 0)
    asked = call(tools=False, results=("toolu_1",))
    assert due(script, past, asked) == 1
    assert due(script, played(past, 1), asked) == 2


def test_a_result_is_refused_when_its_call_never_crossed_the_tool_seam() -> None:
    script = TurnScript([Turn(use="t", times=9), Turn(say="a", when="refused")], Draws(1))
    past = played(Past(), 0)
    assert due(script, past, call(results=("toolu_1",))) == 1
    past.see_called("main/tool#1", "tool", "main", ToolRequest("toolu_1", "t"))
    assert due(script, past, call(results=("toolu_1",))) == 0
    assert due(script, past, call(results=("toolu_1", "toolu_2"))) == 1


def test_what_is_owed_is_the_first_play_of_plain_turns() -> None:
    script = TurnScript(
        [
            Turn(say="a", times=5),
            Turn(say="b", optional=True),
            Turn(say="c", when="ended"),
            Turn(use="d"),
            Turn(blocks=({"type": "text", "text": "e"},), purpose="compact"),
        ],
        Draws(1),
    )
    assert list(script.unplayed(played(Past(), 0))) == [
        "script turn 4 (use d)",
        "script turn 5 (1 blocks)",
    ]


class CountingPast(Past):
    """Counts how many turns a script looks at."""

    looks = 0

    def __init__(self) -> None:
        super().__init__()
        outer = self

        class Plays(dict[tuple[str, int], int]):
            def __getitem__(self, key: tuple[str, int]) -> int:
                outer.looks += 1
                return self.get(key, 0)

        self.plays = Plays()  # type: ignore[assignment]


@pytest.mark.parametrize("length", [20, 2000])
def test_the_work_of_a_call_does_not_grow_with_the_turns_played(length: int) -> None:
    script, past = TurnScript([Turn(say="x")] * length, Draws(1)), CountingPast()
    for index in range(length - 1):
        played(past, index)
    past.looks = 0
    assert due(script, past) == length - 1
    assert past.looks <= 3


@pytest.mark.parametrize("length", [20, 2000])
def test_the_work_of_a_tool_does_not_grow_either(length: int) -> None:
    turns = tuple(ToolTurn(ok=str(n)) for n in range(length))
    tools, past = ToolScripts({"t": ToolScript(script=turns)}), CountingPast()
    for index in range(length - 1):
        past.last_played["tool:t"] = index
        past.plays["tool:t", index] = 1
    past.looks = 0
    found = tools.due("t", past)
    assert found is not None
    assert found[1] == length - 1
    assert past.looks <= 3


def test_a_tool_plays_its_turns_then_has_no_more() -> None:
    tools, past = (
        ToolScripts({"t": ToolScript(script=(ToolTurn(ok=1, times=2), ToolTurn(ok=2)))}),
        Past(),
    )
    seen = []
    while (found := tools.due("t", past)) is not None:
        seen.append(found[0].ok)
        past.last_played["tool:t"] = found[1]
        past.plays["tool:t", found[1]] += 1
    assert seen == [1, 1, 2]


def test_a_tool_without_a_script_says_ok_for_ever() -> None:
    tools, past = ToolScripts({"t": ToolScript()}), Past()
    past.plays["tool:t", 0] = 10**6
    found = tools.due("t", past)
    assert found is not None
    assert tool_answer(found[0]) == ToolAnswer("ok")
    assert tools.known("t")
    assert not tools.known("u")


@pytest.mark.parametrize(
    ("turn", "answer"),
    [
        (ToolTurn(ok="x"), ToolAnswer("x")),
        (ToolTurn(ok=[{"type": "text", "text": "x"}]), ToolAnswer([{"type": "text", "text": "x"}])),
        (ToolTurn(error="e"), ToolAnswer("e", is_error=True)),
        (ToolTurn(bytes=3), ToolAnswer("xxx")),
        (ToolTurn(effect="booked"), ToolAnswer("ok")),
    ],
)
def test_what_a_tool_turn_says(turn: ToolTurn, answer: ToolAnswer) -> None:
    assert tool_answer(turn) == answer


def test_the_short_form_in_order_with_drawn_ids() -> None:
    turn = Turn(think="hm", say="so", use="t", input={"a": 1})
    reply = model_reply(turn, Draws(7), "main/model#1")
    thinking, text, use = reply.blocks
    assert isinstance(thinking, Thinking)
    assert text == Text("so")
    assert isinstance(use, ToolUse)
    assert (use.name, use.input, reply.stop) == ("t", {"a": 1}, "tool_use")
    assert use.id.startswith("toolu_01")
    assert use.id == model_reply(turn, Draws(7), "main/model#1").blocks[2].id  # type: ignore[union-attr]
    assert use.id != model_reply(turn, Draws(7), "main/model#2").blocks[2].id  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("turn", "stop"),
    [
        (Turn(say="x"), "end_turn"),
        (Turn(use="x"), "tool_use"),
        (Turn(use="x", stop="max_tokens"), "max_tokens"),
        (Turn(say="x", stop="null"), None),
    ],
)
def test_the_stop_reason(turn: Turn, stop: str | None) -> None:
    assert model_reply(turn, Draws(1), "k").stop == stop


def test_an_input_that_is_not_given_is_empty_and_null_is_null() -> None:
    assert model_reply(Turn(use="t"), Draws(1), "k").blocks[0].input == {}  # type: ignore[union-attr]
    null = msgspec.convert({"use": "t", "input": None}, Turn)
    assert model_reply(null, Draws(1), "k").blocks[0].input is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "block"),
    [
        ({"type": "text", "text": "x"}, Text("x")),
        ({"type": "thinking", "text": "x", "signature": "s"}, Thinking("x", "s")),
        ({"type": "tool_use", "name": "t"}, ToolUse("", "t", {})),
        ({"type": "tool_result", "id": "i", "content": "c"}, ToolResult("i", "c")),
        ({"type": "new", "x": 1}, Opaque("new", {"type": "new", "x": 1})),
    ],
)
def test_blocks_of_a_file(fields: dict[str, Any], block: object) -> None:
    assert block_from(fields) == block


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": "x"}, "needs a `type`"),
        ({"type": ["text"]}, "needs a `type`"),
        ({"type": "text"}, "missing required field `text`"),
        ({"type": "text", "text": 3}, "Expected `str`"),
        ({"type": "thinking", "thinking": "x"}, "'thinking': known: "),
        ({"type": "text", "text": "x", "txt": "y"}, "did you mean 'text'?"),
    ],
)
def test_a_block_that_cannot_be_read(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        block_from(fields)


def test_a_turn_in_words() -> None:
    assert describe(Turn(use="t")) == "use t"
    assert describe(Turn(say="x" * 100)) == f"say {'x' * 40!r}"


def test_usage_is_passed_on() -> None:
    assert model_reply(Turn(say="x", usage={"input_tokens": 3}), Draws(1), "k") == Reply(
        (Text("x"),), "end_turn", {"input_tokens": 3}
    )
