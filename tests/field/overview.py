"""What the results of all targets say together: cells of the matrix, changes, what is confirmed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from harness.catalogue import FIELD_PREFIX, FieldFinding
from tests.field.environments import is_same
from tests.field.judged import Judged, told_of
from tests.field.results import CLASSES, Results, Seen


class Cell(msgspec.Struct, frozen=True):
    """A target's runs in which an invariant was broken: how many, which, the worst class.

    `confirmed` are the findings that a check by hand has shown for it.
    """

    runs: tuple[Seen, ...] = ()
    class_: str = ""
    confirmed: tuple[str, ...] = ()


class Overview(msgspec.Struct, frozen=True):
    """The results beside the confirmed findings and the red runs that were judged by hand."""

    results: tuple[Results, ...]
    findings: Mapping[str, FieldFinding]
    judged: Mapping[str, tuple[Judged, ...]]

    @property
    def current(self) -> dict[str, FieldFinding]:
        """The findings in releases that had no later one when they were confirmed."""
        return {name: row for name, row in self.findings.items() if not row.fixed_in}

    @property
    def older(self) -> dict[str, FieldFinding]:
        """The findings that a later release has not."""
        return {name: row for name, row in self.findings.items() if row.fixed_in}

    @property
    def invariants(self) -> list[str]:
        """The checks whose findings were seen, those of the most targets first."""
        count = Counter(
            check
            for each in self.results
            for check in {check_of(code) for seen in each.seen for code in seen.causes}
        )
        return sorted(count, key=lambda check: (-count[check], check))

    def cell(self, result: Results, check: str) -> Cell:
        """What was seen of a target for an invariant."""
        runs = tuple(seen for seen in result.seen if any(check_of(c) == check for c in seen.causes))
        classes = {
            class_
            for seen in runs
            for code, class_ in seen.causes.items()
            if check_of(code) == check
        }
        confirmed = tuple(
            f"{FIELD_PREFIX}{name}" for name, row in self.current.items()
            if is_same(row.target, result.head.target) and row.shows(check)
        )  # fmt: skip
        return Cell(runs, min(classes, key=CLASSES.index, default=""), confirmed)

    def false(self, result: Results) -> str:
        """How many of a target's judged red runs are false; "" where none was judged."""
        return told_of(result.head.target, self.judged)

    def changed(self) -> list[tuple[str, Seen]]:
        """The runs that showed something else when they were played again, with their target."""
        return [
            (each.head.target, seen) for each in self.results for seen in each.seen if seen.changed
        ]

    def left_out(self) -> list[tuple[str, str, str]]:
        """The drawn runs that were not played to their end: target, run and reason."""
        return [
            (each.head.target, run, reason)
            for each in self.results for run, reason in sorted(each.head.left_out.items())
        ]  # fmt: skip

    def repeated(self) -> int:
        """How many runs were played again."""
        return sum(bool(seen.again) for each in self.results for seen in each.seen)

    def unconfirmed(self, result: Results) -> list[str]:
        """The codes that were seen of a target, and that no check by hand has shown."""
        rows = [row for row in self.current.values() if is_same(row.target, result.head.target)]
        codes = {code for seen in result.seen for code in seen.causes}
        return sorted(code for code in codes if not any(row.shows(code) for row in rows))

    def lacks(self) -> list[str]:
        """What runs were not applicable for, the most frequent first."""
        count: Counter[str] = Counter()
        for each in self.results:
            count.update(each.head.lacks)
        return [name for name, _ in count.most_common()]


def check_of(code: str) -> str:
    """The check of a code."""
    return code.partition(".")[0]


def overview(
    results: Sequence[Results],
    findings: Mapping[str, FieldFinding],
    judged: Mapping[str, tuple[Judged, ...]],
) -> Overview:
    """The results with the findings and the judged runs."""
    return Overview(tuple(results), findings, judged)
