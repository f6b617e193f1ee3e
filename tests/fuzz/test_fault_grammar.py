"""The faults that are drawn: which there are, where and how they are armed, and when they end."""

from __future__ import annotations

from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given

from harness import faults
from harness.agent import agent
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.values.errors import InputError
from harness.fuzz.choice_sequence import ChoiceSequence
from harness.fuzz.completion_oracle import calls_of, is_benign
from harness.fuzz.example import options_of
from harness.fuzz.fault_grammar import (
    BLOCKING_LAYERS,
    REPETITIONS,
    STORE_REPETITIONS,
    VARIANTS,
    WHEN,
    FaultRange,
    faults_of,
    matching,
    places,
    variant_of,
    variations,
    with_fault_due,
)
from harness.fuzz.scenario_grammar import scenario_of, with_due
from harness.strategies import crash_points, fault_sets, scenarios
from harness.targets import of_callable


@given(crash_points())
def test_a_crash_point_ends_the_agent(point: FaultSpec) -> None:
    assert faults.by_kind(point.kind).kills


def test_every_fault_is_in_but_those_that_need_a_word() -> None:
    kinds = {fault.kind for fault in matching(("*",))}
    of_other_wires = {
        k for k, f in faults.faults().items() if f.wires and "anthropic" not in f.wires
    }
    undrawn = {k for k, f in faults.faults().items() if not f.drawn}
    assert undrawn == {
        *("gateway.session_key_collides", "persistence.second_agent"),
        "http.tools_refused",  # an agent with one model has no better request
        *("tools.endless", "tools.interrupts", "tools.not_utf8", "tools.raises_base"),
    }
    assert kinds == set(faults.faults()) - undrawn - of_other_wires


@pytest.mark.parametrize("fault", matching(("*",)), ids=lambda f: f.kind)
def test_every_place_and_setting_of_a_fault_can_be_armed(fault: faults.Fault) -> None:
    for on in places(fault):
        for setting in variations(fault.kind):
            spec = FaultSpec(kind=fault.kind, on=on, settings=setting)
            assert faults.arm(spec, wire="anthropic").spec.kind == fault.kind


@pytest.mark.parametrize("fault", matching(("*",)), ids=lambda f: f.kind)
def test_the_number_of_a_fault_reaches_all_its_knobs(fault: faults.Fault) -> None:
    rows = len(places(fault)) * len(WHEN) * len(variations(fault.kind))
    assert rows * max(map(len, (REPETITIONS, STORE_REPETITIONS))) <= VARIANTS
    assert variant_of(fault, 0) == FaultSpec(
        kind=fault.kind, on=places(fault)[0], when=1, must_fire=False,
        settings=variations(fault.kind)[0],
    )  # fmt: skip


OPTIONS = options_of(of_callable(agent))
ROUND = len({fault.kind for fault in matching(("*",)) if fault.seams != ("approval",)})
"""The turns in which each kind comes once, for an agent that asks no user."""


def _in_turn(turn: int, seed: int = 3) -> tuple[Scenario, Scenario]:
    """A scenario as chance alone draws it, and with the fault of the turn."""
    free = ChoiceSequence((), Random(turn))
    scenario = scenario_of(free, OPTIONS)
    due = with_due(tuple(free.made), turn, seed, OPTIONS)
    return scenario, scenario_of(ChoiceSequence(due, Random(turn)), OPTIONS)


def _due(turn: int, seed: int = 3) -> FaultSpec:
    """The fault of a turn, where the first layer alone has drawn one."""
    made: list[int] = []

    def choose(n: int) -> int:
        made.append(0 if made else n - 1)
        return made[-1]

    assert len(faults_of(choose, FaultRange())) == 1
    answers = with_fault_due(tuple(made), turn, seed, FaultRange())
    (spec,) = faults_of(ChoiceSequence(answers, Random(0)), FaultRange())
    return spec


def test_each_kind_of_fault_has_its_turn_and_another_form_in_each_round() -> None:
    first, second = ([_due(ROUND * n + turn) for turn in range(ROUND)] for n in (0, 1))
    kinds = [spec.kind for spec in first]
    assert len(set(kinds)) == ROUND
    assert set(kinds) == {spec.kind for spec in second}
    assert kinds != [spec.kind for spec in second]
    assert kinds != [_due(turn, seed=4).kind for turn in range(ROUND)]
    forms = {spec.kind: spec for spec in second}
    assert sum(spec == forms[spec.kind] for spec in first) < ROUND / 4


def test_turns_change_which_faults_there_are_and_not_how_many() -> None:
    pairs = [_in_turn(turn) for turn in range(400)]
    assert all(len(due.faults) == len(free.faults) for free, due in pairs)
    plain = [(free, due) for free, due in pairs if not free.faults or free.expect.outcome]
    assert len(plain) > 80
    assert all(free == due for free, due in plain)
    kinds = [{spec.kind for _, due in pairs for spec in due.faults}]
    kinds += [{spec.kind for free, _ in pairs for spec in free.faults}]
    assert len(kinds[0]) > len(kinds[1])


def test_a_fault_has_what_it_waits_for() -> None:
    """A stream, a tool call, or a window that makes the agent compact."""
    seen = Counter[str]()
    for scenario in (_in_turn(turn)[1] for turn in range(2 * ROUND)):
        waits = {spec.on for spec in scenario.faults}
        if any(spec.kind.startswith("sse.") for spec in scenario.faults):
            seen["stream"] += 1
            assert scenario.stream
        if "tool" in waits:
            seen["call"] += 1
            called = [name for turn in scenario.script for name, _ in calls_of(turn)]
            assert not scenario.tools.keys().isdisjoint(called)
        if waits == {"compact"} and not is_benign(msgspec.structs.replace(scenario, faults=())):
            seen["window"] += scenario.window_tokens is not None
            seen["none"] += scenario.window_tokens is None
    assert min(seen["stream"], seen["call"], seen["window"]) > 30
    assert seen["none"] < seen["window"] / 4


@given(fault_sets(("http.status",)))
def test_a_pattern_narrows_a_set(drawn_set: tuple[FaultSpec, ...]) -> None:
    assert {spec.kind for spec in drawn_set} <= {"http.status"}


@given(fault_sets(HINDERING_PATTERNS := tuple(f"{layer}*" for layer in BLOCKING_LAYERS)))
def test_what_keeps_messages_from_the_agent_ends(drawn_set: tuple[FaultSpec, ...]) -> None:
    assert not any(spec.often == "forever" or spec.then != "ok" for spec in drawn_set)


def test_a_pattern_that_matches_nothing_is_a_mistake() -> None:
    for make in (fault_sets, crash_points, lambda p: scenarios(faults=p)):
        with pytest.raises(InputError, match="htp"):
            make(("htp.*",))
    with pytest.raises(InputError, match="ends the agent"):
        crash_points(("http.*",))
