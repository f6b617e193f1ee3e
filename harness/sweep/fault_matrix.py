"""The matrix of a scenario in a sweep: each fault beside each call, and what the two come to.

A fault that gives the same answer as another one at a call has the result of that case. Pairs of
faults and orders are left out: they have no place between one fault and one call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.core.values.verdict import CLASSES, Finding
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case
from harness.sweep.certificate import NOT_PLAYED
from harness.sweep.sweep_folder import Scope, SweptRun
from harness.verdicts.event_lines import counted
from harness.verdicts.matrix import CellWord, Matrix, MatrixCell


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
