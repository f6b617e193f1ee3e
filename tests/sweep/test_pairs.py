"""Pairs of faults: which are played, and why the others show nothing new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.core.scenario.scenario import FaultSpec
from harness.core.values.profile import NO_PROFILE
from harness.engines import Serial
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case
from harness.sweep.certificate import certificate
from harness.sweep.fault_meetings import Meeting
from harness.sweep.pairs import (
    ALONE,
    APART,
    NO_EFFECT,
    SAME_EFFECT,
    Effects,
    Seconds,
    pairs_of,
    pruned_firsts,
)
from harness.sweep.sweep import listed, plan_of, played, with_pairs
from harness.sweep.sweep_folder import ResultFile, read_scope
from tests.sweep.agents import CAREFUL, one_question

FAULT = FaultSpec(kind="http.server_error")


def case(number: int, call: str) -> Case:
    """A case whose answer no other one gives."""
    return Case(number=number, run="talk", call=call, fault=FAULT, plan=f"p{number}")


def held(number: int, **courses: str) -> CaseResult:
    """A case after which the agent takes these courses."""
    return CaseResult(number=number, status="held", courses=courses)


CASES = [case(n, f"main/model#{1 + n // 4}") for n in range(1, 7)]
"""Three cases at the first call, three at the second."""

COURSES = {"main": "plain"}
RESULTS = {
    1: held(1, main="again"),
    2: held(2, main="again"),
    3: held(3, main="plain"),
    4: held(4, main="later"),
    5: CaseResult(number=5, status="found"),
    6: held(6, main="other"),
}


def test_one_fault_stands_for_all_with_its_effect() -> None:
    effects = Effects(COURSES, CASES, RESULTS)
    assert [lead.number for lead in effects.leads] == [1, 4, 6]
    assert effects.why == {2: SAME_EFFECT, 3: NO_EFFECT, 5: ALONE}
    left = list(pruned_firsts(effects, CASES))
    assert left == [(SAME_EFFECT, 3), (NO_EFFECT, 3), (ALONE, 0)]


def test_each_fault_stands_for_itself_where_every_pair_is_asked_for() -> None:
    effects = Effects(COURSES, CASES, RESULTS, every=True)
    assert effects.leads == CASES
    assert list(pruned_firsts(effects, CASES)) == []
    same = Meeting(variant=0, call=CASES[2].call, seam="model", number=1, plan=CASES[2].plan)
    assert effects.why_not(CASES[0], same) == ""
    assert Effects(COURSES, CASES, RESULTS).why_not(CASES[0], same) == NO_EFFECT


def meeting(number: int) -> Meeting:
    """What a probe tells at the call of a case."""
    one = CASES[number - 1]
    return Meeting(0, one.call, "model", 2, one.plan)


def test_a_second_fault_is_a_lead_or_new() -> None:
    effects = Effects(COURSES, CASES, RESULTS)
    new = Meeting(0, "main/model#3", "model", 3, "never seen")
    found = Seconds(CASES[0], (FAULT,), (meeting(4), meeting(5), meeting(6), new))
    pairs, left = pairs_of(found, effects, 7)
    assert [(one.number, one.call, one.beside, one.fault.when) for one in pairs] == [
        (7, "main/model#2", 1, 2),
        (8, "main/model#2", 1, 2),
        (9, "main/model#3", 1, 3),
    ]
    assert left == Counter({ALONE: 1})


def test_sessions_that_do_not_affect_each_other_make_no_pair() -> None:
    cases = [case(1, "a/model#1"), case(2, "b/model#1")]
    plain = {"a": "plain", "b": "plain"}
    apart = {1: held(1, a="again", b="plain"), 2: held(2, a="plain", b="again")}
    second = Seconds(cases[0], (FAULT,), (Meeting(0, "b/model#1", "model", 2, "p2"),))
    assert pairs_of(second, Effects(plain, cases, apart), 3) == ([], Counter({APART: 1}))
    joined = {**apart, 2: held(2, a="waits", b="again")}
    pairs, left = pairs_of(second, Effects(plain, cases, joined), 3)
    assert ([one.number for one in pairs], left) == ([3], Counter())


@pytest.mark.real
def test_pairs_are_listed_before_they_are_played(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    plan = plan_of(CAREFUL, ("http.server_error", "tools.fails"), NO_PROFILE, "", "", k=2)
    assert len(list(listed(folder, plan, [one_question(tmp_path)], Serial()))) == 1
    scope, results = read_scope(folder), ResultFile(folder)
    singles = len(list(played(scope, results, Serial())))
    assert not certificate(scope, results.results, {}).complete
    assert list(with_pairs(folder, scope, results.results, Serial()))
    scope = read_scope(folder)
    pairs = [one for one in scope.cases if one.beside]
    assert pairs
    assert not certificate(scope, results.results, {}).complete
    assert len(list(played(scope, results, Serial()))) == len(pairs)
    results.close()
    made = certificate(scope, results.results, {})
    assert (made.complete, made.pairs, made.cases) == (True, len(pairs), singles + len(pairs))
    assert made.found == ()
    order = {call: n for n, call in enumerate(dict.fromkeys(c.call for c in scope.cases))}
    firsts = {one.number: one for one in scope.cases}
    assert all(order[firsts[one.beside].call] < order[one.call] for one in pairs)
