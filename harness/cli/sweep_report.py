"""The output of `harness sweep`: the certificate as text, and as results for every report.

The text stands in the folder too, so it has neither a time nor a path of this machine. For reports
and the baseline the sweep is one result, and each code that it finds is one more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from harness.core.values.verdict import FAIL_ON, Finding, FindingClass, Verdict
from harness.report.run_report import one_line, wrapped
from harness.sweep.case_runs import CaseResult
from harness.sweep.certificate import Certificate, FoundCause, SweptCount
from harness.sweep.sweep_folder import Scope, history_file
from harness.verdicts.event_lines import counted
from harness.verdicts.result import Result

_SCENARIO = "sweep"
_WIDTH = 88
_MOST_RUNS = 20
"""The most runs with a line each; the JSON file has all."""


def certificate_lines(made: Certificate) -> Iterator[str]:
    """Yield the certificate as text."""
    faults = "every fault" if made.faults == ("*",) else f"faults {', '.join(made.faults)}"
    what = f"{faults} at every call"
    if made.orders:
        what = f"every order with at most {counted(made.orders, 'change')}"
    yield f"{what} of {counted(len(made.runs), 'run')}, target {made.target}"
    yield ""
    for run in made.runs[:_MOST_RUNS]:
        yield f"  {run.run}"
        yield from wrapped(_run_line(run), _WIDTH, "      ")
    if more := len(made.runs) - _MOST_RUNS:
        yield from [f"  and {counted(more, 'run')} more: certificate.json"] if more > 0 else ()
    yield ""
    yield from _count_lines(made)
    for one in made.found:
        yield from _found_lines(one)
    for why, cases in made.open.items():
        yield f"open ({counted(cases, 'case')})"
        yield from wrapped(why, _WIDTH, "    ")
    yield ""
    yield _last_line(made)
    yield f"digest of the cases {made.digest}"


def _run_line(run: SweptCount) -> str:
    if run.not_swept:
        return f"not swept: {run.not_swept}"
    calls = ", ".join(f"{seam} {count}" for seam, count in run.calls.items())
    ends = [f"{run.held} held", f"{run.found} found" if run.found else "",
            f"{run.open} open" if run.open else ""]  # fmt: skip
    without = "" if run.verdict == "pass" else f"; without a fault it is {run.verdict}"
    points = f"; {run.points} points of choice" if run.points else ""
    return f"calls: {calls}{points}; {run.cases} cases: {', '.join(filter(None, ends))}{without}"


def _count_lines(made: Certificate) -> Iterator[str]:
    same = f", and {made.same:,} faults that give the same answer there"
    yield f"cases        {made.cases:,}{'' if made.orders else same}"
    yield f"struck       {made.struck:,}"
    yield from _pair_lines(made)
    whys = Counter[str]()
    for reasons in made.not_reached.values():
        for why, kinds in reasons.items():
            whys[why] += len(kinds)
    for why, count in whys.items():
        yield f"not reached  {count:,}: {why}"


def _pair_lines(made: Certificate) -> Iterator[str]:
    """Yield how many pairs were played of how many, and why the others were not."""
    if not (left := sum(made.pruned.values())):
        return
    whole = made.pairs + left
    yield f"pairs        {made.pairs:,} of {whole:,}, {whole / max(made.pairs, 1):.0f} times fewer"
    for why, count in made.pruned.items():
        yield f"left out     {count:,}: {why}"


def _found_lines(one: FoundCause) -> Iterator[str]:
    yield ""
    found = one.finding
    said = f"{found.class_}: {one_line(found)}" if found.class_ else one_line(found)
    if one.run:
        yield f"found {found.code}  (without a further fault)"
        yield from wrapped(said, _WIDTH, "    ")
        yield from wrapped(f"in {one.run}; the cases leave it out", _WIDTH, "    ")
        return
    faults = f", {counted(one.faults, 'fault')}" if one.faults else ""
    yield f"found {found.code}  ({counted(one.cases, 'case')}{faults})"
    yield from wrapped(said, _WIDTH, "    ")
    yield from wrapped(f"first: case {one.case}, {one.fault}", _WIDTH, "    ")
    yield f"    {one.file}" if one.file else f"    not shrunk: {one.not_shrunk or 'not yet'}"


def _last_line(made: Certificate) -> str:
    found = counted(len(made.found), "finding")
    if made.complete:
        return f"complete: {found}"
    unswept = sum(bool(run.not_swept) for run in made.runs)
    left = [f"{counted(sum(made.open.values()), 'case')} open" if made.open else "",
            f"{counted(unswept, 'run')} not swept" if unswept else ""]  # fmt: skip
    return f"{found}, and {', '.join(filter(None, left))}"


def sweep_results(
    scope: Scope,
    made: Certificate,
    results: Sequence[CaseResult],
    folder: Path,
    repeat: Callable[[Path], str],
) -> Iterator[Result]:
    """Yield the sweep as a result, then each code that it finds with its first scenario."""
    why = [f"{cases}x: {why}" for why, cases in made.open.items()]
    why += [f"{run.run} is not swept: {run.not_swept}" for run in made.runs if run.not_swept]
    why += [] if made.cases else ["there is no case"]
    blank = Result(
        name=f"{_SCENARIO}/certificate", scenario=_SCENARIO, title=f"digest {made.digest}",
        target=made.target, world="", seed=0,
        verdict=Verdict("unknown" if why else "pass", doubts=tuple(why)),
    )  # fmt: skip
    yield blank
    found: dict[str, tuple[Finding, int]] = {}
    without_fault = ((finding, 0) for run in scope.runs for finding in run.findings)
    under_fault = ((finding, case.number) for case in results for finding in case.findings)
    for finding, number in (*without_fault, *under_fault):
        found.setdefault(finding.code, (finding, number))
    files = {one.finding.code: folder / one.file for one in reversed(made.found) if one.file}
    for code in sorted(found):
        file = files.get(code)
        finding, number = found[code]
        history = history_file(folder, number) if number else None
        yield msgspec.structs.replace(
            blank, name=result_name(finding), history=str(history or ""),
            verdict=Verdict("fail", findings=(finding,), fail_on=_fail_on(scope)),
            file=str(file or ""), repeat=repeat(file) if file else "",
        )  # fmt: skip


def result_name(finding: Finding) -> str:
    """The name of the result that shows a finding: one for each code."""
    return f"{_SCENARIO}/{finding.code}"


def _fail_on(scope: Scope) -> FindingClass:
    named = (run.scenario.expect.fail_on for run in scope.runs)
    return next(filter(None, named), FAIL_ON)
