"""A sweep: every fault at every call of some scenarios, played once each.

A scenario is played as it is, then with a probe for each fault; what the probes tell is the list of
cases. All scenarios are listed before the first case is played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import UNSET

from harness.core.scenario.scenario import Scenario
from harness.core.values.errors import InputError
from harness.core.values.profile import NO_PROFILE, Profile
from harness.core.values.verdict import Cause, Finding
from harness.engines import Engine, ordered_map
from harness.fuzz import findings
from harness.fuzz.example import RawFinding
from harness.fuzz.fault_grammar import check_names
from harness.fuzz.findings import ShrinkTask, ShrunkFinding, not_shrunk, shrunk_from
from harness.plugins import loaded_modules
from harness.redaction.masking import mask
from harness.runner.prepare import versions
from harness.sweep.case_runs import (
    SIZE,
    SIZE_IN_REAL_TIME,
    CaseResult,
    CaseTask,
    again_apart,
    judged_again,
    lost_cases,
    of_case,
    play_cases,
    tasks_of,
)
from harness.sweep.cases import Case
from harness.sweep.certificate import Group, first_of_each
from harness.sweep.pairs import (
    Effects,
    Seconds,
    SecondTask,
    lost_seconds,
    pairs_of,
    pruned_firsts,
    seconds,
)
from harness.sweep.survey import Survey, SurveyTask, lost_survey, survey
from harness.sweep.sweep_folder import (
    Line,
    Pruned,
    ResultFile,
    Scope,
    SweepPlan,
    SweptRun,
    history_of,
    write_pairs,
    write_scope,
)
from harness.targets import resolve
from harness.targets.process_exits import make_worker_replaceable

EVERY = ("*",)


def plan_of(
    target: str,
    faults: tuple[str, ...],
    profile: Profile,
    profile_name: str,
    store: str,
    k: int = 1,
    all_pairs: bool = False,
    orders: bool = False,
) -> SweepPlan:
    """The plan of a sweep. Raises InputError for a target that holds a secret, and for patterns
    that no fault has."""
    if mask(target) != target:
        what = "holds a secret, and a sweep stores its target: read the secret from a file instead"
        raise InputError(what, "--target")
    if orders and (all_pairs or faults != EVERY):
        raise InputError(
            "a sweep of orders plays no faults: leave out --faults and --all-pairs", "--orders"
        )
    if all_pairs and k == 1:
        raise InputError("pairs come with --k 2", "--all-pairs")
    check_names(faults)
    return SweepPlan(
        target=target, faults=faults, k=k, all_pairs=all_pairs, orders=orders or UNSET,
        profile=UNSET if profile == NO_PROFILE else profile,
        profile_name=profile_name or UNSET, store=store or UNSET,
        plugins=loaded_modules() or UNSET, versions=dict(versions()),
    )  # fmt: skip


def listed(
    folder: Path, plan: SweepPlan, scenarios: Sequence[Scenario], engine: Engine
) -> Iterator[Survey]:
    """List the cases of all scenarios, and write the list; yield each survey as it ends."""
    tasks = [
        SurveyTask(target=plan.target, scenario=scenario, faults=plan.faults,
                   store=plan.store or "", orders=bool(plan.orders))
        for scenario in scenarios
    ]  # fmt: skip
    lines: list[Line] = []
    first = 1
    for found in ordered_map(engine, survey, tasks, lost_survey):
        moved = (
            msgspec.structs.replace(case, number=case.number + first - 1) for case in found.cases
        )
        lines += (found.run, *moved, *found.not_reached)
        first += len(found.cases)
        yield found
    write_scope(folder, plan, lines)


def played(scope: Scope, results: ResultFile, engine: Engine) -> Iterator[CaseResult]:
    """Play the cases without a result; yield each result after it is on disk."""
    done = {result.number for result in results.results}
    left = [case for case in scope.cases if case.number not in done]
    for found in ordered_map(engine, play_cases, _tasks(scope, left), lost_cases, again_apart):
        for one in found:
            results.write(one)
            yield one.result


def _tasks(scope: Scope, left: Sequence[Case]) -> Iterator[CaseTask]:
    size = SIZE if resolve(scope.plan.target).kind == "python" else SIZE_IN_REAL_TIME
    for _, group in groupby(left, key=lambda case: (case.run, case.beside)):
        cases, store = [*group], scope.plan.store or ""
        known = known_of(scope.run(cases[0].run))
        scenario = scenario_before(scope, cases[0])
        yield from tasks_of(scope.plan.target, scenario, cases, size, known, store)


def scenario_before(scope: Scope, case: Case) -> Scenario:
    """The scenario of a case without its own fault: of a pair, with the first one."""
    scenario = scope.run(case.run).scenario
    return of_case(scenario, scope.cases[case.beside - 1]) if case.beside else scenario


def with_pairs(
    folder: Path, scope: Scope, results: Sequence[CaseResult], engine: Engine
) -> Iterator[Seconds]:
    """List the pairs of faults of all scenarios, and write the list; yield each first fault."""
    by_number = {result.number: result for result in results}
    effects, lines = dict[str, Effects](), list[Case | Pruned]()
    left: Counter[tuple[str, str]] = Counter()
    of_run = scope.cases_by_run()
    for swept in scope.runs:
        cases = of_run[swept.name]
        effects[swept.name] = found = Effects(
            swept.courses, cases, by_number, every=scope.plan.all_pairs
        )
        for why, count in pruned_firsts(found, cases):
            left[swept.name, why] += count
    tasks = [
        SecondTask(target=scope.plan.target, scenario=scope.run(first.run).scenario, first=first,
                   faults=scope.plan.faults, store=scope.plan.store or "")
        for found in effects.values() for first in found.leads
    ]  # fmt: skip
    number = len(scope.cases) + 1
    for second in ordered_map(engine, seconds, tasks, lost_seconds):
        run = second.first.run
        pairs, more = pairs_of(second, effects[run], number)
        left.update({(run, why): count for why, count in more.items()})
        lines += pairs
        number += len(pairs)
        yield second
    lines += (Pruned(run, why, count) for (run, why), count in left.items() if count)
    write_pairs(folder, lines)


def known_of(swept: SweptRun) -> frozenset[tuple[str, Cause]]:
    """The findings of a run without a further fault."""
    return frozenset(finding.group for finding in swept.findings)


BY = "a sweep"
"""What has found the finding of a case, in the title of its file."""


class CaseShrink(msgspec.Struct, frozen=True):
    """A finding to be shrunk, from the scenario of its case."""

    task: ShrinkTask
    scenario: Scenario


def shrink_case(asked: CaseShrink) -> ShrunkFinding:
    """Shrink the finding of a case."""
    make_worker_replaceable()
    target = resolve(asked.task.target)
    isolate = asked.task.isolate or target.may_keep_state
    return shrunk_from(asked.scenario, asked.task, msgspec.structs.replace(target, isolate=isolate))


def _lost_shrink(asked: CaseShrink) -> ShrunkFinding:
    return not_shrunk(asked.task, "its process ended")


def shrunk(
    folder: Path, scope: Scope, results: Sequence[CaseResult], engine: Engine
) -> Iterator[tuple[Group, ShrunkFinding]]:
    """Shrink the first case of each finding, and write its scenario and its test."""
    first = first_of_each(results)
    tasks = [_shrink_task(scope, result, finding) for result, finding in first.values()]
    made = ordered_map(engine, shrink_case, tasks, _lost_shrink)
    for group, small in zip(first, made, strict=True):
        if not small.failure:
            plan = scope.plan
            findings.write(
                folder, small, plan.target, plan.profile_name or "", plan.store or "", BY
            )
        yield group, small


def _shrink_task(scope: Scope, result: CaseResult, finding: Finding) -> CaseShrink:
    case = scope.cases[result.number - 1]
    scenario = of_case(scenario_before(scope, case), case)
    task = ShrinkTask(
        target=scope.plan.target, wire=scenario.wire, fail_on=scenario.expect.fail_on,
        profile=scope.plan.profile or NO_PROFILE, by=BY,
        found=RawFinding(finding, case.number, ()),
    )  # fmt: skip
    return CaseShrink(task, scenario)


def counted_again(folder: Path, scope: Scope, results: Sequence[CaseResult]) -> list[CaseResult]:
    """The results of a sweep, judged again from the histories; one without a history stays open."""
    again = []
    for result in results:
        case = scope.cases[result.number - 1]
        history = history_of(folder, result.number)
        if history is not None and history.events:
            again.append(judged_again(case, history, known_of(scope.run(case.run))))
        elif result.status == "open":
            again.append(result)
    return again
