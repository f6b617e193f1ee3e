"""The stored session: pairs go together, and what was whole stays whole."""

from __future__ import annotations

from hypothesis import given

from harness.core.scenario.scenario import Scenario, SeedMessage, Session
from harness.shrink.session_reductions import calls, is_whole, messages
from harness.strategies import conversations, damaged_conversations
from tests.shrink.drive import candidates, last

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
