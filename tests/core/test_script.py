"""Scripts of the model and of tools: which turn is due, what is owed, what finding out costs."""

from __future__ import annotations

import pytest

from harness.core.history.past import Past
from harness.core.scenario.scenario import ToolScript, ToolTurn, Turn
from harness.core.scenario.script import ToolScripts, TurnScript, tool_answer
from harness.core.values.calls import ToolRequest
from harness.core.values.draws import Draws
from harness.core.values.plans import ToolAnswer
from tests.core.script_play import call, due, played


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


def test_results_that_are_text_refuse_a_call_of_the_newest_answer_that_never_ran() -> None:
    turns = [Turn(use="t", times=9), Turn(say="a", when="refused")]
    script, past = TurnScript(turns, Draws(1), results="text"), played(Past(), 0)
    assert due(script, past, call()) == 0, "nothing was asked for"
    past.see_called("main/model#1", "model", "main", call().request)
    past.see_answered("main/model#1", "model", asks=("toolu_1",))
    assert due(script, past, call()) == 1
    assert due(TurnScript(turns, Draws(1)), past, call()) == 0, "blocks have ids"
    past.see_called("main/tool#1", "tool", "main", ToolRequest("toolu_1", "t"))
    assert due(script, past, call()) == 0


def test_a_result_under_an_id_of_the_agents_own_answers_the_newest_call() -> None:
    script, past = (
        TurnScript([Turn(use="t", times=9), Turn(say="a", when="refused")], Draws(1)),
        Past(),
    )
    past.see_called("main/model#1", "model", "main", call().request)
    past.see_answered("main/model#1", "model", asks=("toolu_1",))
    past = played(past, 0)
    assert due(script, past, call(results=("own_1",))) == 1
    past.see_called("main/tool#1", "tool", "main", ToolRequest("toolu_1", "t"))
    assert due(script, past, call(results=("own_1",))) == 0


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
