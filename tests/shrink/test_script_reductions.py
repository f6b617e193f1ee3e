"""Turns go with their outcomes and messages; equal neighbours become one turn."""

from __future__ import annotations

import msgspec

from harness.core.scenario.scenario import InboxItem, Scenario, ToolScript, ToolTurn, Turn
from harness.core.scenario.script import count
from harness.shrink.field_reductions import entries_of
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import (
    LONG,
    fewer_times,
    folded_outcomes,
    folded_turns,
    rounds,
    turns_with_outcomes,
    windows,
)
from tests.shrink.drive import candidates, last


def _call(path: str) -> Turn:
    return Turn(use="read", input={"path": path})


TWO = Scenario(
    name="two",
    inbox=(InboxItem(text="first"), InboxItem(kind="cancel"), InboxItem(text="second")),
    tools={"read": ToolScript(script=(ToolTurn(ok="a"), ToolTurn(ok="b", times=2)))},
    script=(
        _call("a"),
        Turn(say="A."),
        Turn(say="summary", purpose="compact"),
        msgspec.structs.replace(_call("b"), times=2),
        Turn(say="B."),
        Turn(say="B, as I said.", when="ended"),
    ),
)


def _texts(scenario: Scenario) -> tuple[list[str], list[object], list[object]]:
    inbox = [item.text or item.kind for item in scenario.inbox]
    said = [turn.say or turn.use for turn in turns_of(scenario)]
    outcomes = [(t.ok, t.times) for t in scenario.tools["read"].script]
    return inbox, list(said), list(outcomes)


def test_a_round_goes_with_its_message_and_its_outcomes() -> None:
    assert [_texts(scenario) for scenario in candidates(rounds(TWO))] == [
        (["cancel"], ["summary"], []),
        (["cancel", "second"], ["summary", "read", "B.", "B, as I said."], [("b", 2)]),
        (["first", "cancel"], ["read", "A.", "summary"], [("a", 1)]),
    ]


def test_one_message_alone_is_no_round_to_cut() -> None:
    assert candidates(rounds(msgspec.structs.replace(TWO, inbox=TWO.inbox[:1]))) == []


def test_a_turn_goes_with_the_outcomes_of_its_own_calls() -> None:
    without_first = last(turns_with_outcomes(TWO), lambda s: '"b"' in _json(s) and "B." in _json(s))
    assert without_first is not None
    assert _texts(without_first)[1:] == (["read", "B."], [("b", 2)])
    assert _texts(last(entries_of("script")(TWO), lambda s: "B." in _json(s)) or TWO)[2] == [
        ("a", 1),
        ("b", 2),
    ]


def test_calls_in_one_message_are_counted_one_by_one() -> None:
    call = {"type": "tool_use", "name": "read"}
    many = msgspec.structs.replace(TWO, script=(Turn(blocks=(call, call)), _call("c")))
    left = last(turns_with_outcomes(many), lambda s: '"c"' in _json(s))
    assert left is not None
    assert _texts(left)[1:] == (["read"], [("b", 1)])


def test_an_outcome_for_ever_stays() -> None:
    tool = ToolScript(script=(ToolTurn(ok="a"), ToolTurn(error="no", times="forever")))
    endless = msgspec.structs.replace(TWO, tools={"read": tool})
    left = last(turns_with_outcomes(endless), lambda s: True)
    assert left is not None
    assert [t.times for t in left.tools["read"].script] == ["forever"]


def test_only_a_long_script_is_looked_through_by_windows() -> None:
    short = msgspec.structs.replace(TWO, script=tuple(_call(str(n)) for n in range(LONG - 1)))
    long = msgspec.structs.replace(TWO, script=tuple(_call(str(n)) for n in range(LONG)))
    assert candidates(windows(short)) == []
    assert {len(turns_of(s)) for s in candidates(windows(long))} == {4, 8, 16, 32}
    assert candidates(windows(long), lambda s: True) == candidates(windows(long))[:1]


def _json(scenario: Scenario) -> str:
    return msgspec.json.encode(scenario).decode()


A, B = Turn(use="a"), Turn(say="b")
SAME = Scenario(name="same", script=(A, A, Turn(use="a", times=3), B, B, A))


def test_all_stretches_fold_at_once_or_one_by_one() -> None:
    folded = [turns_of(scenario) for scenario in candidates(folded_turns(SAME))]
    five, two = Turn(use="a", times=5), Turn(say="b", times=2)
    assert folded == [(five, two, A), (five, B, B, A), (A, A, Turn(use="a", times=3), two, A)]


def test_what_is_said_for_ever_stays_for_ever() -> None:
    endless = Scenario(name="e", script=(A, Turn(use="a", times="forever")))
    assert [t.times for t in turns_of(candidates(folded_turns(endless))[0])] == ["forever"]


def test_each_turn_is_played_as_rarely_as_will_do() -> None:
    long = Scenario(name="l", script=(Turn(use="a", times=500), Turn(say="b", times="forever")))
    tried = candidates(fewer_times(long), lambda s: count(turns_of(s)[0].times) >= 4)
    assert [t.times for t in turns_of(tried[-1])] == [4, 1]
    assert len(tried) < 10


def test_the_outcomes_of_a_tool_fold_and_the_last_is_said_for_ever() -> None:
    no, yes = ToolTurn(error="no"), ToolTurn(ok="yes")
    tools = {"a": ToolScript(script=(yes, no, no, no)), "b": ToolScript(script=(yes,))}
    found = last(folded_outcomes(Scenario(name="t", tools=tools)), lambda s: True)
    assert found is not None
    assert found.tools["a"].script == (yes, ToolTurn(error="no", times="forever"))
    counted = candidates(folded_outcomes(Scenario(name="t", tools=tools)))[1]
    assert counted.tools["a"].script == (yes, ToolTurn(error="no", times=3))
