"""Turns go with their outcomes and messages; equal neighbours become one turn.

The stored session: pairs go together, and what was whole stays whole.
"""

from __future__ import annotations

import msgspec
from hypothesis import given

from harness.core.scenario.scenario import (
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    ToolTurn,
    Turn,
)
from harness.core.scenario.script import count
from harness.shrink.field_reductions import entries_of
from harness.shrink.scenario_size import turns_of
from harness.shrink.script_reductions import (
    LONG,
    calls,
    fewer_times,
    folded_outcomes,
    folded_turns,
    is_whole,
    messages,
    rounds,
    turns_with_outcomes,
    windows,
)
from harness.strategies import conversations, damaged_conversations
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


Stored = tuple[SeedMessage, ...]


def _use(id_: str) -> dict[str, object]:
    return {"type": "tool_use", "id": id_, "name": "look", "input": {}}


def _result(id_: str) -> dict[str, object]:
    return {"type": "tool_result", "id": id_, "content": "found"}


ROUND: Stored = (
    SeedMessage(role="user", content="Look."),
    SeedMessage(
        role="assistant", content=({"type": "text", "text": "Hm."}, _use("t1"), _use("t2"))
    ),
    SeedMessage(role="user", content=(_result("t1"), _result("t2"))),
    SeedMessage(role="assistant", content="Found."),
)


def _of(stored: Stored) -> Scenario:
    return Scenario(name="stored", session=Session(messages=stored))


def _ids(scenario: Scenario, kind: str) -> set[object]:
    stored = scenario.session.messages
    blocks = [b for m in stored if not isinstance(m.content, str) for b in m.content]
    return {b["id"] for b in blocks if b["type"] == kind}


def test_no_candidate_has_half_a_pair() -> None:
    found = [*candidates(messages(_of(ROUND))), *candidates(calls(_of(ROUND)))]
    assert len(found) > 8
    for candidate in found:
        assert _ids(candidate, "tool_use") == _ids(candidate, "tool_result")


def test_one_call_goes_with_its_result() -> None:
    found = last(calls(_of(ROUND)), lambda s: "t2" in _ids(s, "tool_use"))
    assert found is not None
    assert found.session.messages[1].content == ({"type": "text", "text": "Hm."}, _use("t2"))
    assert found.session.messages[2].content == (_result("t2"),)


def test_a_message_that_loses_all_of_its_blocks_goes() -> None:
    found = candidates(calls(_of(ROUND)))[0]
    assert [m.role for m in found.session.messages] == ["user", "assistant", "assistant"]


def test_damage_is_cut_freely() -> None:
    orphan = (ROUND[0], SeedMessage(role="user", content=(_result("gone"),)))
    assert not is_whole(orphan)
    found = last(messages(_of(orphan)), lambda s: _ids(s, "tool_result") == {"gone"})
    assert found is not None
    assert found.session.messages == orphan[1:]


def test_whole_is_alternating_and_answered_to_the_end() -> None:
    assert is_whole(())
    assert is_whole(ROUND)
    assert not is_whole(ROUND[:2])
    assert not is_whole(ROUND[:1])
    assert not is_whole(ROUND[1:])
    assert not is_whole((ROUND[0], ROUND[3], ROUND[2], ROUND[3]))
    assert not is_whole((ROUND[0], ROUND[1], ROUND[0], ROUND[3]))


@given(conversations())
def test_valid_conversations_are_whole(stored: Stored) -> None:
    assert is_whole(stored)


@given(damaged_conversations())
def test_candidates_are_parts_of_the_session(stored: Stored) -> None:
    for candidate in (*candidates(messages(_of(stored))), *candidates(calls(_of(stored)))):
        assert len(candidate.session.messages) <= len(stored)
        for kind in ("tool_use", "tool_result"):
            assert _ids(candidate, kind) <= _ids(_of(stored), kind)
