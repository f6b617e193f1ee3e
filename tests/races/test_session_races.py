"""Races with the user, with a timer, and within a session: hidden, found, shrunk; twins pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.orders import Order
from harness.files.scenario_values import with_orders
from harness.runner import Run, run
from harness.shrink import shrink
from harness.sweep.case_runs import CaseTask, of_case, play_cases
from harness.sweep.order_cases import order_cases
from harness.sweep.survey import SurveyTask, survey
from tests.races.session_races import PLANTED

pytestmark = pytest.mark.timeout(600)

Agent = Callable[..., Any]
each_race = pytest.mark.parametrize(
    ("agent", "scenario"), PLANTED, ids=[agent.__name__ for agent, _ in PLANTED]
)


def twin(agent: Agent) -> Agent:
    """The careful form of an agent."""
    if inspect.iscoroutinefunction(agent):

        async def in_tasks(brief: Brief) -> None:
            await agent(brief, careful=True)

        return in_tasks
    return lambda brief: agent(brief, careful=True)


def changed(agent: Agent, played: Run, scenario: Scenario) -> list[tuple[tuple[Order, ...], Run]]:
    """The runs with one change more behind those of a run."""
    cases = order_cases("", played.history, 1, scenario.orders or ())
    return [(case.orders, run(of_case(scenario, case), agent)) for case in cases]


def codes(played: Run) -> set[str]:
    """The codes of the findings that fail a run."""
    return {finding.code for finding in played.verdict.failing}


@each_race
def test_a_race_is_found_by_a_sweep_of_orders_alone(agent: Agent, scenario: Scenario) -> None:
    target = f"{agent.__module__}:{agent.__name__}"
    found = survey(SurveyTask(target=target, scenario=scenario, faults=(), orders=True))
    assert found.run.findings == ()
    task = CaseTask(target=target, scenario=found.run.scenario, cases=found.cases)
    results = [played.result for played in play_cases(task)]
    assert {result.status for result in results} == {"held", "found"}


@each_race
def test_a_race_shrinks_to_three_choices_at_most(agent: Agent, scenario: Scenario) -> None:
    """From an order with changes that matter for nothing, to the one that shows the race."""
    first = with_orders(scenario, {})
    orders, shown = next(one for one in changed(agent, run(first, agent), first) if codes(one[1]))
    wrong = msgspec.structs.replace(first, orders=orders)
    more = [both for both, after in changed(agent, shown, wrong) if codes(after) & codes(shown)]
    around = (*(more or [orders])[-1], Order(at=90, first=2), Order(at=91, first=2))
    wanted = codes(shown)

    def keeps(candidate: Scenario) -> bool:
        """Whether the order shows the finding, and not the scenario by itself."""
        in_turn = msgspec.structs.replace(candidate, orders=())
        return bool(wanted & codes(run(candidate, agent))) and not codes(run(in_turn, agent))

    small = shrink(msgspec.structs.replace(first, orders=around), keeps, tries_max=60).scenario
    assert small.orders is not None
    assert len(small.orders) == 1 < len(around)


@each_race
def test_a_careful_twin_passes_in_each_order_of_two_changes(
    agent: Agent, scenario: Scenario
) -> None:
    careful, first = twin(agent), with_orders(scenario, {})
    played = run(first, careful)
    assert played.verdict.verdict == "pass", played.verdict
    once = changed(careful, played, first)
    assert once
    for orders, after in once:
        assert codes(after) == set(), orders
        ordered = msgspec.structs.replace(first, orders=orders)
        for both, last in changed(careful, after, ordered):
            assert codes(last) == set(), both
