"""Repetition: equal neighbours become one turn, which is then played as rarely as will do."""

from __future__ import annotations

from harness.core.scenario.scenario import Scenario, ToolScript, ToolTurn, Turn
from harness.core.scenario.script import count
from harness.shrink.measure import turns_of
from harness.shrink.repeats import fewer_times, folded_outcomes, folded_turns
from tests.shrink.drive import candidates, last

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
