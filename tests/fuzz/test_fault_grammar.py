"""The faults that are drawn: which there are, where and how they are armed, and when they end."""

from __future__ import annotations

import pytest
from hypothesis import given

from harness import faults
from harness.core.scenario.scenario import FaultSpec
from harness.core.values.errors import InputError
from harness.fuzz.fault_grammar import (
    BLOCKING_LAYERS,
    REPETITIONS,
    STORE_REPETITIONS,
    VARIANTS,
    WHEN,
    matching,
    places,
    variant_of,
    variations,
)
from harness.strategies import crash_points, fault_sets, scenarios


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
