"""Weaker faults: once, early, and let the next call through."""

from __future__ import annotations

from harness.core.scenario.scenario import FaultSpec, Scenario, When
from harness.shrink import shrink
from harness.shrink.field_reductions import weaker
from tests.shrink.drive import last

HARD = FaultSpec(kind="http.status", when=4, often="forever", then="escalate", on="main")


def _of(*faults: FaultSpec) -> Scenario:
    return Scenario(name="hard", faults=faults)


def test_the_weakest_fault_of_all_strikes_once_on_the_first_call() -> None:
    found = last(weaker(_of(HARD)), lambda s: True)
    assert found == _of(FaultSpec(kind="http.status", on="main"))


def test_for_ever_becomes_as_often_as_is_needed() -> None:
    def keeps(scenario: Scenario) -> bool:
        often = scenario.faults[0].often if scenario.faults else 0
        return often == "forever" or (often != "once" and often >= 6)

    assert shrink(_of(HARD), keeps).scenario == _of(FaultSpec(kind="http.status", often=6))


def test_a_condition_becomes_the_first_call_that_will_do() -> None:
    named = FaultSpec(kind="http.status", when=When(after="model#2"))

    def keeps(scenario: Scenario) -> bool:
        when = scenario.faults[0].when if scenario.faults else 0
        return isinstance(when, When) or when == 3

    assert shrink(_of(named), keeps).scenario == _of(FaultSpec(kind="http.status", when=3))


def test_each_fault_is_made_weaker_by_itself() -> None:
    two = shrink(_of(HARD, HARD), lambda s: len(s.faults) == 2 and s.faults[1].then == "escalate")
    assert two.scenario == _of(
        FaultSpec(kind="http.status"), FaultSpec(kind="http.status", then="escalate")
    )
