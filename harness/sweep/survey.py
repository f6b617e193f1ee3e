"""The survey of a scenario: it is played as it is, and then with a probe for each fault.

What the probes tell is the list of the scenario's cases. A scenario that the agent cannot be asked,
or whose run is in doubt by itself, is not swept, and the reason is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from harness.core.history.events import Called
from harness.core.history.history import History
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.core.values.verdict import Verdict
from harness.fuzz.fault_grammar import matching, reachable
from harness.runner import run
from harness.sweep.case_runs import courses_of
from harness.sweep.cases import Case, NotReached, cases_of, not_reached, points_of, why_unordered
from harness.sweep.fault_meetings import meetings, variants
from harness.sweep.order_cases import order_cases
from harness.sweep.sweep_folder import SweptRun
from harness.targets import TargetSpec, resolve
from harness.targets.process_exits import make_worker_replaceable


class SurveyTask(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario whose cases are to be listed."""

    target: str
    scenario: Scenario
    faults: tuple[str, ...]
    store: str = ""
    orders: bool = False


class Survey(msgspec.Struct, frozen=True):
    """What a survey finds: the run, its cases numbered from 1, and what it cannot reach."""

    run: SweptRun
    cases: tuple[Case, ...] = ()
    not_reached: tuple[NotReached, ...] = ()


def survey(task: SurveyTask) -> Survey:
    """Play a scenario as it is, then with probes, and list its cases.

    Raises InputError for a target that cannot be used.
    """
    make_worker_replaceable()
    target, scenario = resolve(task.target), task.scenario
    if task.orders and scenario.orders is None:
        scenario = msgspec.structs.replace(scenario, orders=())
    isolate = target.may_keep_state
    played = run(scenario, target, store=task.store, isolate=isolate, capture="fd")
    swept = SweptRun(
        name=scenario.run_name, scenario=scenario, verdict=played.verdict.verdict,
        findings=played.verdict.failing, why=_unswept(played.verdict),
        courses=courses_of(played.history),
    )  # fmt: skip
    if swept.why:
        return Survey(swept)
    if task.orders:
        return _ordered(swept, played.history)
    kinds = kinds_of(task.faults, scenario, target)
    specs = variants(kinds, scenario, target)
    runs, met = meetings(scenario, target, specs, store=task.store)
    calls = Counter[str]()
    for seen in runs:
        calls |= Counter(e.seam for e in seen.history.events if isinstance(e, Called))
    return Survey(
        msgspec.structs.replace(swept, calls=dict(sorted(calls.items()))),
        tuple(cases_of(swept.name, specs, met, 1)),
        tuple(not_reached(swept.name, kinds, specs, met, calls)),
    )


def _ordered(swept: SweptRun, history: History) -> Survey:
    """The survey of the orders of a run: each place of each point of choice is a case."""
    if why := why_unordered(history):
        return Survey(msgspec.structs.replace(swept, why=why))
    calls = Counter(event.seam for event in history.events if isinstance(event, Called))
    points = len(points_of(history))
    counted = msgspec.structs.replace(swept, calls=dict(sorted(calls.items())), points=points)
    return Survey(counted, tuple(order_cases(swept.name, history, 1)))


def _unswept(verdict: Verdict) -> str:
    if verdict.verdict == "not_applicable":
        return "not applicable: " + "; ".join(lack.reason for lack in verdict.not_applicable)
    if verdict.verdict == "unknown":
        return "unknown: " + "; ".join(verdict.doubts)
    return ""


def kinds_of(patterns: Sequence[str], scenario: Scenario, target: TargetSpec) -> tuple[str, ...]:
    """The kinds that the wire has, and that a client can meet on it."""
    found = matching(patterns, scenario.wire)
    specs = tuple(FaultSpec(kind=fault.kind) for fault in found)
    return tuple(spec.kind for spec in reachable(specs, scenario.wire, scenario.stream))


def lost_survey(task: SurveyTask) -> Survey:
    """The survey of a scenario whose run ended each worker process."""
    why = "each worker process that played it ended"
    return Survey(
        SweptRun(name=task.scenario.run_name, scenario=task.scenario, verdict="unknown", why=why)
    )
