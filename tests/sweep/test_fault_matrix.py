"""The matrix of a sweep says of each fault and each call what they came to."""

from __future__ import annotations

import pytest

from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.values.verdict import Finding
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case
from harness.sweep.fault_matrix import fault_matrices
from harness.sweep.sweep_folder import Scope, SweepPlan, SweptRun
from harness.verdicts.matrix import Matrix

SCENARIO = Scenario(name="talk", script=())
RUN = SweptRun(name="talk", scenario=SCENARIO, verdict="pass")
HELD = CaseResult(number=1, status="held")


def case(number: int, kind: str, call: str, *same: str, beside: int = 0) -> Case:
    """A case of the run `talk`; `same` are the kinds that it stands for."""
    stands_for = tuple(FaultSpec(kind=name) for name in same)
    return Case(
        number=number, run="talk", call=call, fault=FaultSpec(kind=kind), stands_for=stands_for,
        beside=beside,
    )  # fmt: skip


def matrix(cases: list[Case], *results: CaseResult) -> Matrix:
    """The matrix of these cases."""
    scope = Scope(SweepPlan(target="reference"), (RUN,), tuple(cases), (), "")
    (made,) = fault_matrices(scope, results, lambda finding: f"sweep/{finding.code}")
    return made


def test_a_fault_has_the_result_of_the_case_that_stands_for_it() -> None:
    made = matrix([case(1, "http.status", "main/model#1", "http.overloaded")], HELD)
    assert made.rows == ("http.overloaded", "http.status")
    assert made.columns == ("main/model#1",)
    assert [(cell.row, cell.word, cell.text) for cell in made.cells] == [
        (0, "held", "1 case held"),
        (1, "held", "1 case held"),
    ]


def test_the_worst_finding_names_the_cell() -> None:
    findings = (
        Finding("words.cut", "", class_="weakness"),
        Finding("words.lost", "", class_="defect"),
    )
    found = CaseResult(number=2, status="found", findings=findings)
    cases = [case(1, "http.status", "main/model#1"), case(2, "http.status", "main/model#1")]
    (cell,) = matrix(cases, HELD, found).cells
    assert (cell.word, cell.cases, cell.class_) == ("found", 2, "defect")
    assert (cell.text, cell.result) == ("2 cases found: words.lost", "sweep/words.lost")


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ((), "1 case open: it was not played: the sweep was ended before"),
        ((CaseResult(number=1, status="open", why="limit.turns"),), "1 case open: limit.turns"),
    ],
)
def test_what_is_open_says_why(results: tuple[CaseResult, ...], said: str) -> None:
    (cell,) = matrix([case(1, "http.status", "main/model#1")], *results).cells
    assert (cell.word, cell.text) == ("open", said)


def test_a_pair_has_no_cell() -> None:
    cases = [
        case(1, "http.status", "main/model#1"),
        case(2, "tools.raises", "main/tool#1", beside=1),
    ]
    assert len(matrix(cases, HELD).cells) == 1


def test_each_run_with_a_case_has_a_matrix() -> None:
    scope = Scope(SweepPlan(target="reference"), (RUN,), (), (), "")
    assert list(fault_matrices(scope, (), lambda finding: "")) == []
