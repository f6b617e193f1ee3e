"""The strategies: what they promise of all that they draw, and that they are good citizens."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import harness.strategies
from harness.agent import agent
from harness.core.history.history import encode
from harness.core.scenario.inbox import entries
from harness.core.scenario.scenario import CassetteScript, InboxItem, Scenario
from harness.files.mistakes import mistakes_in
from harness.fuzz.scenario_grammar import LAST_MESSAGE
from harness.fuzz.script_grammar import LAST, SUMMARY
from harness.fuzz.text_grammar import BLANKS, WORDS
from harness.runner import run
from harness.runner.prepare import check_faults
from harness.strategies import Options, chunkings, drawn, inbound_traffic, scenario_of, scenarios
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
    first: dict[tuple[str, str], InboxItem] = {}  # one id in two sessions is two messages
    for item in inbox:
        plain = msgspec.structs.replace(item, when="idle")
        assert first.setdefault((item.session, item.id), plain) == plain
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


@given(scenario=scenarios())
@example(scenario=SMALLEST)
def test_an_example_may_stand_beside_what_is_drawn(scenario: Scenario) -> None:
    assert isinstance(scenario, Scenario)


@given(drawn(lambda choose: choose(7)))
def test_a_grammar_of_ones_own_draws_by_the_same_question(number: int) -> None:
    assert 0 <= number < 7


@given(scenarios(faults=("gateway.*",), mean_faults=2))
def test_where_a_message_may_be_kept_away_another_one_follows(scenario: Scenario) -> None:
    # One follows a cancel beside a tool too, which shows what the cancelled turn has left.
    cancels = [item.when for item in scenario.inbox if item.kind != "message"]
    follows = bool(scenario.faults) or {"after": "tool#1"} in cancels
    assert (scenario.inbox[-1] == LAST_MESSAGE) == follows


def test_the_public_names_are_found_and_others_are_not() -> None:
    assert {"scenarios", "session_machine", "store_machine"} <= set(dir(harness.strategies))
    with pytest.raises(AttributeError, match="no attribute 'scenario'"):
        _ = harness.strategies.scenario  # type: ignore[attr-defined]
