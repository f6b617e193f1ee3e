"""A certificate says complete only where each case came to a result.

The matrix of a sweep says of each fault and each call what they came to.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.values.profile import NO_PROFILE
from harness.core.values.verdict import Finding
from harness.engines import Serial
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case
from harness.sweep.certificate import NOT_PLAYED, certificate, difference, fault_matrices
from harness.sweep.sweep import counted_again, listed, plan_of, played
from harness.sweep.sweep_folder import (
    CASES,
    RESULTS,
    ResultFile,
    Scope,
    SweepPlan,
    SweptRun,
    read_scope,
)
from harness.verdicts.command_events import Matrix
from tests.sweep.agents import CAREFUL, one_question


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    """The list of a small sweep, in the folder `sweep`."""
    plan = plan_of(CAREFUL, ("http.server_error", "tools.raises"), NO_PROFILE, "", "")
    assert len(list(listed(tmp_path / "sweep", plan, [one_question(tmp_path)], Serial()))) == 1
    return read_scope(tmp_path / "sweep")


def held(*numbers: int) -> list[CaseResult]:
    """Results of cases that held."""
    return [CaseResult(number=number, status="held") for number in numbers]


def test_all_cases_that_held_are_complete(scope: Scope) -> None:
    made = certificate(scope, held(1, 2, 3), {})
    assert (made.complete, made.cases, made.struck, made.found) == (True, 3, 3, ())
    assert made.digest == scope.digest


def test_two_checkouts_have_one_digest_and_other_cases_another(
    scope: Scope, tmp_path: Path
) -> None:
    digests = set()
    for name, faults in (
        ("here", ("http.server_error", "tools.raises")),
        ("there", ("http.server_error", "tools.raises")),
        ("less", ("tools.raises",)),
    ):
        (tmp_path / name).mkdir()
        plan = plan_of(CAREFUL, faults, NO_PROFILE, "", "")
        assert list(
            listed(tmp_path / name / "out", plan, [one_question(tmp_path / name)], Serial())
        )
        digests.add(read_scope(tmp_path / name / "out").digest)
    assert scope.digest in digests
    assert len(digests) == 2


def test_a_case_that_was_not_played_is_open(scope: Scope) -> None:
    made = certificate(scope, held(1, 3), {})
    assert (made.complete, made.open) == (False, {NOT_PLAYED: 1})


def test_a_case_that_was_cut_off_is_open(scope: Scope) -> None:
    cut = CaseResult(number=2, status="open", why="limit.virtual_s")
    made = certificate(scope, [*held(1, 3), cut], {})
    assert (made.complete, made.open, made.struck) == (False, {"limit.virtual_s": 1}, 2)


def test_a_finding_is_one_whichever_fault_shows_it(scope: Scope) -> None:
    found = [
        CaseResult(
            number=n, status="found", findings=(Finding("a.b", f"said {n}", class_="defect"),)
        )
        for n in (1, 2)
    ]
    (one,) = certificate(scope, [*found, *held(3)], {}).found
    assert (one.finding.code, one.cases, one.case, one.faults) == ("a.b", 2, 1, 2)
    assert one.fault == "http.server_error at main/model#1"


def test_it_is_counted_again_from_the_histories(scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    results = ResultFile(folder)
    assert [one.status for one in played(scope, results, Serial())] == ["held"] * 3
    results.close()
    told = certificate(scope, results.results, {})
    again = certificate(scope, counted_again(folder, scope, results.results), {})
    assert difference(told, again) == []
    falsified = [*held(1, 2), CaseResult(number=3, status="found", findings=(Finding("a.b", "x"),))]
    wrong = certificate(scope, falsified, {})
    assert "found" in difference(wrong, again)


def test_a_torn_result_is_played_again(scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    results = ResultFile(folder)
    first = next(played(scope, results, Serial()))
    results.close()
    assert first.number == 1
    file = folder / RESULTS
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    again = ResultFile(folder)
    kept = len(again.results)
    assert kept == len(whole.splitlines()) - 1
    assert [one.number for one in played(scope, again, Serial())] == list(range(kept + 1, 4))
    again.close()


def test_two_lists_of_one_agent_are_equal_bytes(scope: Scope, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for _ in listed(other, scope.plan, [run.scenario for run in scope.runs], Serial()):
        pass
    assert (other / CASES).read_bytes() == (tmp_path / "sweep" / CASES).read_bytes()


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
