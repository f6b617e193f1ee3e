"""Pairs of faults, without those that can show nothing new.

A second fault is asked at the calls behind the first one, of the run with the first one: what the
agent then calls, and what it is answered, may differ from the run without. A pair is left out for
one of three reasons. One of its faults has no effect on what the agent does, or that of another
fault at that call. Its calls cannot meet. Or one of its faults shows a finding alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from harness.core.history.events import Called
from harness.core.scenario.scenario import FaultSpec, Scenario
from harness.runner import Run
from harness.sweep.case_runs import CaseResult, of_case
from harness.sweep.cases import Case, case_of, same_answers
from harness.sweep.fault_meetings import Meeting, meetings, variants
from harness.sweep.survey import kinds_of
from harness.targets import resolve
from harness.targets.process_exits import make_worker_replaceable

NO_EFFECT = "the agent does the same as without one of the faults"
SAME_EFFECT = "the agent does the same as after another fault at that call"
ALONE = "one of the faults shows a finding, or stays open, alone"
APART = "the calls are of sessions that do not affect each other"


class SecondTask(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario with a first fault, whose second faults are to be found."""

    target: str
    scenario: Scenario
    first: Case
    faults: tuple[str, ...]
    store: str = ""


class Seconds(msgspec.Struct, frozen=True):
    """The faults that can meet a call behind the first fault."""

    first: Case
    specs: tuple[FaultSpec, ...] = ()
    met: tuple[Meeting, ...] = ()


def seconds(task: SecondTask) -> Seconds:
    """Play a scenario with its first fault and with probes. Raises InputError for a target that
    cannot be used."""
    make_worker_replaceable()
    target = resolve(task.target)
    scenario = of_case(task.scenario, task.first)
    specs = variants(kinds_of(task.faults, scenario, target), scenario, target)
    runs, met = meetings(scenario, target, specs, store=task.store)
    # What stands before the first fault is a pair of another case, with the faults exchanged.
    behind = {call for played in runs for call in _behind(played, task.first.call)}
    files = (one for one in met if one.seam == "file")  # no call tells when they are written
    met = [*(one for one in met if one.call in behind), *files]
    return Seconds(task.first, specs, tuple(met))


def _behind(played: Run, call: str) -> Sequence[str]:
    """The calls of a run that come after one of them."""
    calls = [event.key for event in played.history.events if isinstance(event, Called)]
    return calls[calls.index(call) + 1 :] if call in calls else ()


def lost_seconds(task: SecondTask) -> Seconds:
    """No second fault, for a run that ended each worker process."""
    return Seconds(task.first)


class Effects:
    """What the faults of a scenario do alone, by its cases and their results.

    `leads` are the cases that stand for all with their effect at their call; with `every`, each
    case stands for itself, and no pair is left out.
    """

    def __init__(
        self,
        courses: Mapping[str, str],
        cases: Sequence[Case],
        results: Mapping[int, CaseResult],
        *,
        every: bool = False,
    ) -> None:
        self._courses, self._cases = courses, {case.number: case for case in cases}
        self._results, self._of_plan = results, {(c.call, c.plan): c.number for c in cases}
        self._order = {call: n for n, call in enumerate(dict.fromkeys(c.call for c in cases))}
        self._every, first = every, dict[tuple[str, str], int]()
        self.why: dict[int, str] = {}
        for case in [] if every else cases:
            result = results.get(case.number)
            if result is None or result.status != "held":
                self.why[case.number] = ALONE
            elif result.courses == courses:
                self.why[case.number] = NO_EFFECT
            elif first.setdefault((case.call, repr(result.courses)), case.number) != case.number:
                self.why[case.number] = SAME_EFFECT
        self.leads = [case for case in cases if case.number not in self.why]

    def behind(self, case: Case) -> int:
        """How many cases strike at a later call than this one."""
        place = self._order[case.call]
        return sum(self._order[other.call] > place for other in self._cases.values())

    def why_not(self, first: Case, second: Meeting) -> str:
        """Why a pair is not played; "" for one that is."""
        number = self._of_plan.get((second.call, second.plan))
        if number is None:  # only the run with the first fault has this call, or this answer
            return ""
        if number in self.why:
            return self.why[number]
        is_apart = not self._every and self._are_apart(first, self._cases[number])
        return APART if is_apart else ""

    def _are_apart(self, first: Case, second: Case) -> bool:
        one, other = (case.call.rpartition("/")[0] for case in (first, second))
        if one == other:
            return False
        by_first, by_second = (self._results[case.number].courses for case in (first, second))
        kept = by_first.get(other) == self._courses.get(other)
        return kept and by_second.get(one) == self._courses.get(one)


def pairs_of(
    found: Seconds, effects: Effects, first_number: int
) -> tuple[list[Case], Counter[str]]:
    """The pairs with a first fault, numbered from `first_number`, and those that are left out."""
    left, pairs, first = Counter[str](), list[Case](), found.first
    for group in same_answers(found.met):
        if why := effects.why_not(first, group[0]):
            left[why] += 1
            continue
        number = first_number + len(pairs)
        pairs.append(case_of(number, first.run, found.specs, group, beside=first.number))
    return pairs, left


def pruned_firsts(effects: Effects, cases: Sequence[Case]) -> Iterator[tuple[str, int]]:
    """The pairs whose first fault is not asked at all, by the reason."""
    for case in cases:
        if why := effects.why.get(case.number):
            yield why, effects.behind(case)
