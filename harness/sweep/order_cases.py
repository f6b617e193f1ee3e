"""The orders of a run as cases: one place that goes before its turn, and then a second one.

Few changes at few points show most races, and an order of few changes can be read. What waits at a
later point follows from the changes before. So the second change is asked in the run with the
first one, and not in the run as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from harness.core.history.history import History
from harness.core.values.orders import ChoicePoint, Order
from harness.sweep.case_runs import CaseResult
from harness.sweep.cases import Case, points_of
from harness.sweep.sweep_folder import Pruned, Scope, history_of, write_pairs

CASES_MOST = 5000
"""The most orders of two changes of a run. A run of 100 points with three in line has 20,000."""

TOO_MANY = f"more than {CASES_MOST:,} orders of one run"
ALONE = "the first change shows a finding, or stays open, alone"


def order_cases(
    run: str, history: History, number: int, before: tuple[Order, ...] = (), beside: int = 0
) -> list[Case]:
    """Every place at every point behind those of `before`, numbered from `number`.

    `beside` is the number of the case with the changes before.
    """
    changes = [
        (Order(at=at, first=first), point)
        for at, point in enumerate(points_of(history), start=1)
        if at > max((order.at for order in before), default=0)
        for first in range(2, len(point.waiting) + 1)
    ]
    return [
        Case(
            number=number + n,
            run=run,
            call=_text(order, point),
            orders=(*before, order),
            beside=beside,
        )
        for n, (order, point) in enumerate(changes)
    ]


def _text(order: Order, point: ChoicePoint) -> str:
    ahead, chosen = point.waiting[0], point.waiting[order.first - 1]
    return f"{chosen} before {ahead}, at point {order.at}"


def with_second_orders(folder: Path, scope: Scope, results: Sequence[CaseResult]) -> Iterator[Case]:
    """List the orders of two changes of all scenarios, and write the list; yield each first one."""
    held = {result.number for result in results if result.status == "held"}
    lines: list[Case | Pruned] = []
    of_run, number = scope.cases_by_run(), len(scope.cases) + 1
    for swept in scope.runs:
        second, left = [], 0
        for case in of_run[swept.name]:
            history = history_of(folder, case.number) if case.number in held else None
            if history is None:
                left += 1
            else:
                second += order_cases(swept.name, history, 0, case.orders, case.number)
            yield case
        kept = second[:CASES_MOST]
        lines += [msgspec.structs.replace(c, number=number + n) for n, c in enumerate(kept)]
        number += len(kept)
        lines += [Pruned(swept.name, ALONE, left)] if left else []
        over = len(second) - len(kept)
        lines += [Pruned(swept.name, TOO_MANY, over)] if over else []
    write_pairs(folder, lines)
