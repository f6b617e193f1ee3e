"""The cases of a sweep as tasks: plain data in, plain data out, for any process.

A case is judged beside the run without the fault: what that run shows too is not of the fault.
The scenario's own expectations are about the run without a further fault, so a case leaves them
out. Its script ends with an answer for each further question.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from harness.checks.judge import judge
from harness.core.history.events import Called, Killed
from harness.core.history.history import History
from harness.core.scenario.scenario import Expect, Scenario
from harness.core.scenario.script import without_end
from harness.core.values.verdict import Cause, Finding, Verdict
from harness.fuzz.example import fired_in, genuine_of
from harness.runner import run, run_folder
from harness.runner.needs import UNSHOWN_SESSION
from harness.runner.run import rehearse
from harness.sweep.cases import Case, came_about
from harness.targets import resolve
from harness.targets.process_exits import make_worker_replaceable
from harness.verdicts.reach import NOTHING, Reach

SIZE, SIZE_IN_REAL_TIME = 16, 1
"""Cases of a task. A run in virtual time takes milliseconds, and a task is one message."""

Status = Literal["held", "found", "open"]


class CaseTask(msgspec.Struct, frozen=True, kw_only=True):
    """Cases of one scenario. `known` are the findings of the run without the fault.

    `isolate`: a worker has ended at this task, so each run is played in a forked child.
    """

    target: str
    scenario: Scenario
    cases: tuple[Case, ...]
    known: frozenset[tuple[str, Cause]] = frozenset()
    store: str = ""
    isolate: bool = False


class CaseResult(msgspec.Struct, frozen=True, kw_only=True, tag="result", omit_defaults=True):
    """What a case comes to: it held, something was found, or it stays open, and why.

    `findings` fail the run, and the run without the fault has none like them. `courses` says by
    session what the agent asked of the world.
    """

    number: int
    status: Status
    findings: tuple[Finding, ...] = ()
    why: str = ""
    courses: dict[str, str] = {}


class PlayedCase(msgspec.Struct, frozen=True):
    """A result with its history, as the bytes of a gzip file, and its reach."""

    result: CaseResult
    history: bytes = b""
    reach: Reach = NOTHING


def of_case(scenario: Scenario, case: Case) -> Scenario:
    """The scenario of a case."""
    faults = scenario.faults if case.orders else (*scenario.faults, case.fault)
    return msgspec.structs.replace(
        without_end(scenario),
        expect=Expect(fail_on=scenario.expect.fail_on),
        faults=faults,
        orders=case.orders or scenario.orders,
    )


def play_cases(task: CaseTask) -> list[PlayedCase]:
    """Play the cases of a task. Raises InputError for a target that cannot be used."""
    make_worker_replaceable()
    target = resolve(task.target)
    if apart := target.may_keep_state:
        rehearse(task.scenario.wire, task.scenario.stream, target)
    played = []
    for case in task.cases:
        scenario = of_case(task.scenario, case)
        isolate = task.isolate or apart
        found = run(scenario, target, store=task.store, isolate=isolate, capture="fd")
        result = result_of(case, found.history, found.verdict, task.known)
        reach = Reach.of(found.history, found.verdict)
        lines = b"".join(run_folder.history_lines(found.history))
        # No time in the file: two sweeps of one agent write the same bytes.
        packed = gzip.compress(lines, compresslevel=1, mtime=0)
        played.append(PlayedCase(result, packed, reach))
    return played


def result_of(
    case: Case, history: History, verdict: Verdict, known: frozenset[tuple[str, Cause]]
) -> CaseResult:
    """What a case comes to by its history and its verdict."""
    faults = fired_in(history)
    kills = any(isinstance(event, Killed) for event in history.events)
    found = tuple(
        finding
        for finding in genuine_of(verdict, faults)
        if finding.group not in known and not finding.follows
    )
    cut_off = [finding for finding in found if finding.check == "limit"]
    findings = tuple(finding for finding in found if finding.check != "limit")
    if findings:
        return CaseResult(number=case.number, status="found", findings=findings)
    # The run without the fault has loaded the session, or the scenario would not be swept. So what
    # a case leaves out is a course of the agent, such as a compaction for a tiny window.
    lacks = [lack for lack in verdict.not_applicable if lack != UNSHOWN_SESSION]
    if verdict.verdict == "not_applicable" and lacks:
        why = "; ".join(lack.reason for lack in lacks)
    elif cut_off or verdict.doubts:
        why = "; ".join((*map(str, cut_off), *verdict.doubts))
    elif case.orders:
        if came_about(history, case.orders):
            return CaseResult(number=case.number, status="held", courses=courses_of(history))
        why = "the order did not come about: the run had other points of choice"
    elif case.fault.kind not in faults and not kills:
        why = "the fault did not strike: the agent made other calls than in the run without it"
    else:
        return CaseResult(number=case.number, status="held", courses=courses_of(history))
    return CaseResult(number=case.number, status="open", why=why)


def courses_of(history: History) -> dict[str, str]:
    """What the agent asked of the world, as a digest by session.

    The store is left out: its calls are seen only where a fault may strike at it.
    """
    courses: dict[str, Any] = {}
    for event in history.events:
        if isinstance(event, Called) and event.seam != "store":
            course = courses.setdefault(event.session, blake2b(digest_size=12))
            course.update(f"{event.key} {event.request!r}\n".encode("utf-8", "surrogatepass"))
    return {session: courses[session].hexdigest() for session in sorted(courses)}


def judged_again(case: Case, history: History, known: frozenset[tuple[str, Cause]]) -> CaseResult:
    """What a case comes to by its history alone."""
    return result_of(case, history, judge(history), known)


def lost_cases(task: CaseTask) -> list[PlayedCase]:
    """The results of a task that ended each process that worked on it."""
    why = "each worker process that played it ended"
    return [
        PlayedCase(CaseResult(number=case.number, status="open", why=why)) for case in task.cases
    ]


def again_apart(task: CaseTask, status: int) -> CaseTask:
    """The task that is played again after its worker has ended, each run in a child."""
    return msgspec.structs.replace(task, isolate=True)


def tasks_of(
    target: str, scenario: Scenario, cases: Sequence[Case], size: int,
    known: frozenset[tuple[str, Cause]], store: str,
) -> list[CaseTask]:  # fmt: skip
    """The cases of a scenario as tasks."""
    return [
        CaseTask(
            target=target,
            scenario=scenario,
            cases=tuple(cases[first : first + size]),
            known=known,
            store=store,
        )
        for first in range(0, len(cases), size)
    ]
