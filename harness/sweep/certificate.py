"""The certificate of a sweep: what was covered, what was found, and what stays open.

It is a function of the list of cases and their results. No time and no path is in it, so two sweeps
of one agent give equal bytes. It is complete only if each case was played to a result.

The matrix of a scenario in a sweep: each fault beside each call, and what the two come to.

A fault that gives the same answer as another one at a call has the result of that case. Pairs of
faults and orders are left out: they have no place between one fault and one call.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.verdict import CLASSES, Cause, Finding
from harness.files.regular_file import stored
from harness.fuzz.findings import FOLDER, ShrunkFinding
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case
from harness.sweep.sweep_folder import Scope, SweptRun
from harness.verdicts.command_events import CellWord, Matrix, MatrixCell
from harness.verdicts.event_lines import counted

FILE, TEXT = "certificate.json", "certificate.txt"

Group = tuple[str, Cause]


class SweptCount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run in a certificate: its calls by seam, its cases, and what they came to.

    `same` counts the faults that give the agent the answer of another one at the same call.
    """

    run: str
    verdict: str
    calls: dict[str, int] = {}
    points: int = 0
    cases: int = 0
    same: int = 0
    held: int = 0
    found: int = 0
    open: int = 0
    not_swept: str = ""


class FoundCause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finding in a certificate: how many cases show it, the first one, and its scenario file.

    One of a run without a further fault has the `run`, and no case.
    """

    finding: Finding
    run: str = ""
    cases: int = 0
    case: int = 0
    fault: str = ""
    faults: int = 0
    file: str = ""
    not_shrunk: str = ""


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep covered; `not_reached` has the kinds, `open` the number of cases, by reason.

    `pairs` of the cases have two faults; `pruned` counts the pairs that were not played, by reason.
    `orders` is the most changes of an order, in a sweep of orders.
    """

    complete: bool
    target: str
    faults: tuple[str, ...]
    runs: tuple[SweptCount, ...]
    cases: int
    same: int
    struck: int
    found: tuple[FoundCause, ...]
    open: dict[str, int]
    pairs: int = 0
    orders: int = 0
    pruned: dict[str, int] = {}
    not_reached: dict[str, dict[str, list[str]]]
    versions: dict[str, str]
    digest: str
    v: int = 1


def group_of(finding: Finding) -> Group:
    """Equal for findings that are one, whichever fault shows them."""
    return finding.code, msgspec.structs.replace(finding.cause, fault="")


def first_of_each(results: Iterable[CaseResult]) -> dict[Group, tuple[CaseResult, Finding]]:
    """The first case of each finding."""
    first: dict[Group, tuple[CaseResult, Finding]] = {}
    for result in results:
        for finding in result.findings:
            first.setdefault(group_of(finding), (result, finding))
    return first


NOT_PLAYED = "it was not played: the sweep was ended before"


def certificate(
    scope: Scope, results: Sequence[CaseResult], shrunk: Mapping[Group, ShrunkFinding]
) -> Certificate:
    """The certificate of a list of cases and the results that there are."""
    by_number = {result.number: result for result in results}
    left = Counter({NOT_PLAYED: len(scope.cases) - len(by_number)})
    left.update(result.why for result in results if result.status == "open")
    still_open = {why: count for why, count in left.items() if count}
    unswept = any(run.why for run in scope.runs)
    of_run = scope.cases_by_run()
    is_listed = scope.plan.k == 1 or scope.has_pairs
    pruned = Counter[str]()
    for each in scope.pruned:
        pruned[each.why] += each.pairs
    return Certificate(
        complete=not still_open and not unswept and is_listed,
        target=scope.plan.target,
        faults=scope.plan.faults,
        runs=tuple(_counted(run, of_run[run.name], by_number) for run in scope.runs),
        cases=len(scope.cases),
        same=sum(len(case.stands_for) for case in scope.cases),
        struck=sum(result.status != "open" for result in results),
        found=(*_without_fault(scope), *_found(scope, results, shrunk)),
        open=still_open,
        orders=scope.plan.k if scope.plan.orders else 0,
        pairs=sum(bool(case.beside) for case in scope.cases),
        pruned=dict(sorted(pruned.items())),
        not_reached=_not_reached(scope),
        versions=scope.plan.versions,
        digest=scope.digest,
    )


def _counted(run: SweptRun, cases: Sequence[Case], results: Mapping[int, CaseResult]) -> SweptCount:
    words = Counter(results[c.number].status if c.number in results else "open" for c in cases)
    return SweptCount(
        run=run.name, verdict=run.verdict, calls=run.calls, points=run.points,
        not_swept=run.why,
        cases=len(cases), same=sum(len(case.stands_for) for case in cases),
        held=words["held"], found=words["found"], open=words["open"],
    )  # fmt: skip


def _found(
    scope: Scope, results: Sequence[CaseResult], shrunk: Mapping[Group, ShrunkFinding]
) -> Iterator[FoundCause]:
    shown: dict[Group, set[int]] = defaultdict(set)
    for result in results:
        for finding in result.findings:
            shown[group_of(finding)].add(result.number)
    cases = {case.number: case for case in scope.cases}
    for group, (result, finding) in first_of_each(results).items():
        small = shrunk.get(group)
        yield FoundCause(
            finding=finding,
            cases=len(shown[group]), case=result.number, fault=_text(cases, result.number),
            faults=len({cases[number].fault.kind for number in shown[group]} - {""}),
            file=f"{FOLDER}/{small.name}.yaml" if small and not small.failure else "",
            not_shrunk=small.failure if small else "",
        )  # fmt: skip


def _text(cases: Mapping[int, Case], number: int) -> str:
    case = cases[number]
    before = f"{cases[case.beside].text}, then " if case.beside else ""
    return f"{before}{case.text}"


def _without_fault(scope: Scope) -> Iterator[FoundCause]:
    for run in scope.runs:
        first = {finding.code: finding for finding in reversed(run.findings)}
        for finding in first.values():
            if not finding.follows:
                yield FoundCause(finding=finding, run=run.name)


def _not_reached(scope: Scope) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for one in scope.not_reached:
        found.setdefault(one.run, {}).setdefault(one.why, []).append(one.kind)
    return found


def read_certificate(folder: Path) -> Certificate:
    """Read the certificate of a sweep. Raises InputError for a folder without one."""
    path = folder / FILE
    if not path.exists():
        raise InputError("no certificate here: the sweep has not ended", str(path))
    return stored(path, Certificate, "certificate")


def difference(one: Certificate, other: Certificate) -> list[str]:
    """The names of the fields in which two certificates differ, scenario files left aside."""
    one, other = map(_without_files, (one, other))
    names = Certificate.__struct_fields__
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def _without_files(one: Certificate) -> Certificate:
    found = (msgspec.structs.replace(each, file="", not_shrunk="") for each in one.found)
    return msgspec.structs.replace(one, found=tuple(found))


def fault_matrices(
    scope: Scope, results: Sequence[CaseResult], shown_in: Callable[[Finding], str]
) -> Iterator[Matrix]:
    """Yield the matrix of each scenario that has a case; `shown_in` names the result of a finding.

    Time and memory grow with the number of cases.
    """
    by_number = {result.number: result for result in results}
    of_run = scope.cases_by_run()
    for run in scope.runs:
        if cases := [case for case in of_run[run.name] if not (case.beside or case.orders)]:
            yield _matrix(run, cases, by_number, shown_in)


def _matrix(
    run: SweptRun,
    cases: Sequence[Case],
    results: Mapping[int, CaseResult],
    shown_in: Callable[[Finding], str],
) -> Matrix:
    met: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        for kind in {fault.kind for fault in (case.fault, *case.stands_for)}:
            met[kind, case.call].append(case)
    kinds = sorted({kind for kind, _ in met})
    calls = list(dict.fromkeys(case.call for case in cases))
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (kinds, calls))
    return Matrix(
        title=run.name,
        corner="fault",
        rows=tuple(kinds),
        columns=tuple(calls),
        cells=tuple(
            _cell(rows[kind], columns[call], [results.get(case.number) for case in group], shown_in)
            for (kind, call), group in sorted(met.items())
        ),
    )


def _cell(
    row: int,
    column: int,
    group: Sequence[CaseResult | None],
    shown_in: Callable[[Finding], str],
) -> MatrixCell:
    findings = [finding for result in group if result for finding in result.findings]
    left = [result for result in group if result is None or result.status == "open"]
    word: CellWord = "found" if findings else "open" if left else "held"
    said = f"{counted(len(group), 'case')} {word}"
    worst = min(findings, key=_weight) if findings else None
    why = worst.code if worst else ""
    if left and not worst:
        why = left[0].why if left[0] else NOT_PLAYED
    return MatrixCell(
        row=row, column=column, word=word, cases=len(group),
        text=f"{said}: {why}" if why else said,
        class_=worst.class_ if worst else "", result=shown_in(worst) if worst else "",
    )  # fmt: skip


def _weight(finding: Finding) -> int:
    """The place of a finding's class; one of the run itself comes first."""
    return CLASSES.index(finding.class_) if finding.class_ in CLASSES else -1
