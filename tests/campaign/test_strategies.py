"""The strategies: what they promise, how small they shrink, and that they are good citizens."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, example, find, given, settings
from hypothesis import strategies as st

import harness.campaign
from harness import faults
from harness.agent import agent
from harness.campaign import (
    Options,
    chunkings,
    conversations,
    crash_points,
    damaged_conversations,
    fault_sets,
    inbound_traffic,
    model_scripts,
    scenario_of,
    scenarios,
    tool_outcomes,
)
from harness.campaign.calm import PASSING, TOO_LONG, is_calm
from harness.campaign.grammar import LAST_MESSAGE, calm_scenario
from harness.campaign.knobs import (
    HINDERING,
    KNOBS,
    OFTEN,
    STUBBORN,
    WHEN,
    places,
    told,
    variations,
)
from harness.campaign.nemesis import NEED_A_WORD, matching
from harness.campaign.scripts import LAST, SUMMARY, TOOLS
from harness.campaign.strategies import drawn
from harness.campaign.words import BLANKS, WORDS
from harness.core.errors import InputError
from harness.core.history import encode
from harness.core.inbox import entries
from harness.core.scenario import (
    CassetteScript,
    FaultSpec,
    InboxItem,
    Scenario,
    SeedMessage,
    Session,
    ToolScript,
    Turn,
)
from harness.load.names import mistakes_in
from harness.runner import run
from harness.runner.prepare import check_faults
from harness.targets import of_callable

SMALLEST = Scenario(name="generated")


def _zero(n: int) -> int:
    return 0


@given(scenarios(faults=("*",)))
def test_a_scenario_is_one_that_a_file_may_say(scenario: Scenario) -> None:
    assert list(mistakes_in(scenario)) == []
    check_faults(scenario, of_callable(agent))
    assert len({spec.kind.partition(".")[0] for spec in scenario.faults}) == len(scenario.faults)


@given(scenarios(faults=("*",)))
def test_nothing_is_owed_and_the_model_always_has_an_answer(scenario: Scenario) -> None:
    assert not isinstance(scenario.script, CassetteScript)
    assert all(turn.optional for turn in scenario.script)
    assert not any(spec.must_fire for spec in scenario.faults)
    for purpose in ("main", "compact"):
        assert [t.times for t in scenario.script if t.purpose == purpose][-1] == "forever"
    assert all(tool.script[-1].times == "forever" for tool in scenario.tools.values())


@given(inbound_traffic())
def test_a_message_that_comes_again_is_the_same(inbox: tuple[InboxItem, ...]) -> None:
    first: dict[str, InboxItem] = {}
    for item in inbox:
        plain = msgspec.structs.replace(item, when="idle")
        assert first.setdefault(item.id, plain) == plain
        assert item.kind != "message" or item.text in WORDS + BLANKS
    assert inbox[0].text.strip()
    assert inbox[0].when == "idle"
    assert len(entries(inbox)) == len(inbox)


@given(inbound_traffic(bursts=False, cancels=False))
def test_peaceful_traffic_waits_for_its_turn(inbox: tuple[InboxItem, ...]) -> None:
    assert {(item.kind, item.when) for item in inbox} == {("message", "idle")}


@settings(max_examples=20)
@given(scenarios(faults=("http.*", "tools.*"), kills=False))
def test_a_scenario_gives_the_same_history_each_time(scenario: Scenario) -> None:
    first, second = (run(scenario, agent).history.events for _ in range(2))
    assert encode(first) == encode(second)


@given(st.binary(max_size=40).flatmap(lambda data: st.tuples(st.just(data), chunkings(data))))
def test_pieces_of_a_stream_are_the_stream(cut: tuple[bytes, tuple[bytes, ...]]) -> None:
    data, pieces = cut
    assert b"".join(pieces) == data
    assert all(pieces)


@given(crash_points())
def test_a_crash_point_ends_the_agent(point: FaultSpec) -> None:
    assert faults.by_kind(point.kind).kills


def test_every_fault_is_in_but_those_that_need_a_word() -> None:
    kinds = {fault.kind for fault in matching(("*",))}
    of_other_wires = {
        k for k, f in faults.faults().items() if f.wires and "anthropic" not in f.wires
    }
    assert kinds == set(faults.faults()) - set(NEED_A_WORD) - of_other_wires


@pytest.mark.parametrize("fault", matching(("*",)), ids=lambda f: f.kind)
def test_every_place_and_setting_of_a_fault_can_be_armed(fault: faults.Fault) -> None:
    for on in places(fault):
        for setting in variations(fault.kind):
            spec = FaultSpec(kind=fault.kind, on=on, settings=setting)
            assert faults.arm(spec, wire="anthropic").spec.kind == fault.kind


@pytest.mark.parametrize("fault", matching(("*",)), ids=lambda f: f.kind)
def test_the_number_of_a_fault_reaches_all_its_knobs(fault: faults.Fault) -> None:
    rows = len(places(fault)) * len(WHEN) * len(variations(fault.kind))
    assert rows * max(map(len, (OFTEN, STUBBORN))) <= KNOBS
    assert told(fault, 0) == FaultSpec(
        kind=fault.kind, on=places(fault)[0], when=1, must_fire=False,
        settings=variations(fault.kind)[0],
    )  # fmt: skip


@given(fault_sets(("http.status",)))
def test_a_pattern_narrows_a_set(drawn_set: tuple[FaultSpec, ...]) -> None:
    assert {spec.kind for spec in drawn_set} <= {"http.status"}


@given(fault_sets(HINDERING_PATTERNS := tuple(f"{layer}*" for layer in HINDERING)))
def test_what_keeps_messages_from_the_agent_ends(drawn_set: tuple[FaultSpec, ...]) -> None:
    assert not any(spec.often == "forever" or spec.then != "ok" for spec in drawn_set)


def test_a_pattern_that_matches_nothing_is_a_mistake() -> None:
    for make in (fault_sets, crash_points, lambda p: scenarios(faults=p)):
        with pytest.raises(InputError, match="htp"):
            make(("htp.*",))
    with pytest.raises(InputError, match="ends the agent"):
        crash_points(("http.*",))


@given(scenarios(wire="openai-chat", faults=("*",)))
def test_another_wire_has_only_what_it_knows(scenario: Scenario) -> None:
    assert list(mistakes_in(scenario)) == []
    assert "pause_turn" not in {turn.stop for turn in scenario.script}  # type: ignore[union-attr]


def test_zeros_are_the_smallest_of_all() -> None:
    smallest = scenario_of(_zero, Options(faults=("*",)))
    assert smallest.session == SMALLEST.session
    assert smallest.script == (LAST, SUMMARY)
    assert smallest.inbox == (InboxItem(id="m1", text="hello"),)
    assert (smallest.faults, smallest.dialect, smallest.stream) == ((), "", False)


def _find(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool]) -> Any:
    search = settings(
        max_examples=3000,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    return find(strategy, wanted, settings=search, random=random.Random(0))


def test_shrunk_to_one_fault_of_many() -> None:
    found = _find(
        scenarios(faults=("*",), mean_faults=3), lambda s: any("tools." in f.kind for f in s.faults)
    )
    (fault,) = found.faults
    assert (fault.when, fault.often, fault.then) == (1, "once", "ok")
    assert found.inbox == (InboxItem(id="m1", text="hello"),)
    assert found.session.messages == ()
    assert found.script == (LAST, SUMMARY)


def test_shrunk_to_one_turn_of_many() -> None:
    found = _find(scenarios(), lambda s: any(t.stop == "refusal" for t in s.script))
    assert len(found.script) == 3
    assert found.script[0].times == 1


def test_shrunk_to_one_message_that_comes_again() -> None:
    found = _find(scenarios(), lambda s: len({i.id for i in s.inbox}) < len(s.inbox))
    assert [item.id for item in found.inbox] == ["m1", "m1"]


def test_shrunk_to_one_round_of_a_conversation() -> None:
    found = _find(conversations(), lambda s: any("redacted" in str(m.content) for m in s))
    assert len(found) == 6
    damaged = _find(damaged_conversations(), lambda s: any(m.content == () for m in s))
    assert len(damaged) <= 2


def test_shrunk_to_one_outcome_and_one_cut() -> None:
    assert len(_find(tool_outcomes(), lambda o: any(t.raises for t in o))) == 1
    assert len(_find(model_scripts(), lambda s: len(s) > 2)) == 3
    assert _find(chunkings(b"data: {}\n\n"), lambda c: len(c) > 1) == (b"d", b"ata: {}\n\n")


@given(scenario=scenarios())
@example(scenario=SMALLEST)
def test_an_example_may_stand_beside_what_is_drawn(scenario: Scenario) -> None:
    assert isinstance(scenario, Scenario)


@given(drawn(lambda choose: choose(7)))
def test_a_grammar_of_ones_own_draws_by_the_same_question(number: int) -> None:
    assert 0 <= number < 7


@given(scenarios(faults=("gateway.*",), mean_faults=2))
def test_where_a_message_may_be_kept_away_another_one_follows(scenario: Scenario) -> None:
    assert (scenario.inbox[-1] == LAST_MESSAGE) == bool(scenario.faults)


@given(scenarios(faults=("*",)))
def test_of_calm_scenarios_alone_an_answer_is_expected(scenario: Scenario) -> None:
    if scenario.expect.outcome is None:
        assert scenario.expect == Scenario(name="").expect
        return
    assert scenario.expect.outcome == "completed"
    assert is_calm(scenario)
    assert {spec.kind for spec in scenario.faults} <= PASSING | TOO_LONG


@settings(max_examples=40)
@given(drawn(lambda choose: calm_scenario(choose, Options(faults=("*",)))))
def test_the_reference_agent_answers_in_calm_scenarios(scenario: Scenario) -> None:
    assert run(scenario, agent).verdict.findings == ()


TWICE: tuple[Turn, ...] = (Turn(use="ping"), Turn(use="ping"), LAST)

DISTURBED: tuple[dict[str, Any], ...] = (
    {"window_tokens": 400},
    {"inbox": (InboxItem(text=" "),)},
    {"inbox": (InboxItem(text="hello"), InboxItem(kind="cancel"))},
    {"faults": (FaultSpec(kind="http.overloaded", often=2),)},
    {"faults": (FaultSpec(kind="http.key_rotated"),)},
    {"faults": (FaultSpec(kind="http.too_large"),)},
    {"session": Session(messages=(SeedMessage(role="user", content="hello"),))},
    {"script": (Turn(say=""), LAST)},
    {"script": (Turn(say="hello", stop="max_tokens"), LAST)},
    {"script": (Turn(use="no_such_tool"), LAST)},
    {"script": (Turn(use="look_up"), LAST)},
    {"script": (Turn(use="ping"), *TWICE)},
    {"script": TWICE[:2]},
)
"""What takes the calm out of a scenario, a piece at a time."""


@pytest.mark.parametrize("disturbed", DISTURBED, ids=str)
def test_each_piece_of_trouble_takes_the_calm_away(disturbed: dict[str, Any]) -> None:
    tools = {name: ToolScript(input_schema=schema) for name, schema in TOOLS.items()}
    calm = Scenario(name="calm", inbox=(InboxItem(text="hello"),), tools=tools, script=TWICE)
    assert is_calm(calm)
    assert not is_calm(msgspec.structs.replace(calm, **disturbed))


def test_the_public_names_are_found_and_others_are_not() -> None:
    assert {"scenarios", "session_machine", "store_machine"} <= set(dir(harness.campaign))
    with pytest.raises(AttributeError, match="no attribute 'scenario'"):
        _ = harness.campaign.scenario  # type: ignore[attr-defined]
