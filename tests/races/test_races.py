"""Races that one order shows: green first come, first served; found by a sweep, and shrunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness.core.scenario.scenario import Scenario
from harness.core.values.brief import Brief
from harness.core.values.verdict import Verdict
from harness.files.scenario_values import with_orders
from harness.runner import run
from harness.shrink import shrink
from harness.sweep.case_runs import CaseTask, of_case, play_cases
from harness.sweep.cases import Case, came_about, points_of
from harness.sweep.order_cases import order_cases
from harness.sweep.survey import SurveyTask, survey
from tests.races.race_agents import CAREFUL, IN_POOL, IN_TASKS, TOGETHER

pytestmark = pytest.mark.timeout(600)

Agent = Callable[[Brief], Any]
RACES = (*IN_POOL, *IN_TASKS)

ORDERED = with_orders(TOGETHER, {})


def swept(agent: Agent) -> list[tuple[Case, Verdict]]:
    """Each order of one change, with its verdict; the run without a change passes."""
    first = run(ORDERED, agent)
    assert first.verdict.verdict == "pass", first.verdict
    cases = order_cases("", first.history, 1)
    return [(case, run(of_case(ORDERED, case), agent).verdict) for case in cases]


@pytest.mark.parametrize("agent", RACES, ids=lambda agent: agent.__name__)
def test_a_race_is_hidden_first_come_first_served_and_found_by_an_order(agent: Agent) -> None:
    assert any(verdict.verdict == "fail" for _, verdict in swept(agent))


@pytest.mark.parametrize("agent", CAREFUL, ids=lambda agent: agent.__name__)
def test_a_careful_twin_passes_in_each_order_of_two_changes(agent: Agent) -> None:
    cases = swept(agent)
    assert [case.text for case, verdict in cases if verdict.verdict != "pass"] == []
    second = [
        more
        for case, _ in cases[::3]
        for more in order_cases("", run(of_case(ORDERED, case), agent).history, 1, case.orders)
    ]
    assert second
    for case in second:
        played = run(of_case(ORDERED, case), agent)
        assert came_about(played.history, case.orders), case.text
        assert played.verdict.verdict == "pass", (case.orders, played.verdict)


@pytest.mark.parametrize("agent", RACES, ids=lambda agent: agent.__name__)
def test_an_order_of_many_changes_shrinks_to_few(agent: Agent) -> None:
    """The last call is answered first, and one change is enough for that."""
    around = with_orders(TOGETHER, {1: 3, 2: 2, 4: 2})
    code = run(around, agent).verdict.failing[0].code

    def keeps(candidate: Scenario) -> bool:
        return code in {finding.code for finding in run(candidate, agent).verdict.failing}

    small = shrink(around, keeps, tries_max=60).scenario
    assert small.orders is not None
    assert len(small.orders) == 1


def test_the_points_of_a_batch_are_its_calls_and_its_answers() -> None:
    points = points_of(run(ORDERED, CAREFUL[0]).history)
    assert [len(point.waiting) for point in points] == [3, 2, 3, 2]
    texts = [
        case.text for case in order_cases("", run(with_orders(TOGETHER, {}), CAREFUL[1]).history, 1)
    ]
    assert texts[0] == "tool oslo before tool rome, at point 1"
    assert texts[-1] == "answer of the tool bern before answer of the tool oslo, at point 4"


def test_a_sweep_lists_and_plays_the_orders() -> None:
    target = f"{__name__.rpartition('.')[0]}.race_agents:last_in_tasks"
    found = survey(SurveyTask(target=target, scenario=TOGETHER, faults=(), orders=True))
    assert (found.run.points, len(found.cases), found.run.why) == (4, 6, "")
    last = found.cases[-1]
    far = msgspec.structs.replace(last, orders=(msgspec.structs.replace(last.orders[0], at=40),))
    task = CaseTask(target=target, scenario=found.run.scenario, cases=(found.cases[0], last, far))
    results = [played.result for played in play_cases(task)]
    assert [result.status for result in results] == ["held", "found", "open"]
    assert results[-1].why.startswith("the order did not come about")
