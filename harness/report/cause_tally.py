"""Groups the findings of many runs by code and cause: number of runs, class, example run, text.

Findings that follow from another are not counted. The tally keeps one finding a group, so it grows
with the number of causes and not with the number of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

import msgspec

from harness.checks.judge.causes import rank
from harness.core.values.verdict import Finding, Verdict
from harness.report.run_report import Paint, cut, finding_note, one_line, plain
from harness.results.event_lines import counted
from harness.results.result import Result

GROUPS_MAX = 20
"""The most groups in a summary, so that it fits a screen."""

EXAMPLE_COLUMN_MAX = 44
"""The widest column of codes that leaves room for an example beside it."""


ERRORS_MAX = 3
"""The most errors that are named for one place."""


class CauseGroup(msgspec.Struct):
    """Findings of one cause: how many runs show it, and the run with the shortest name.

    For crashes at one place, `errors` counts the runs of each error.
    """

    finding: Finding
    example: str
    fails: bool
    runs: int = 0
    errors: dict[str, int] = {}

    def add(self, finding: Finding, name: str, fails: bool) -> None:
        """Add a run."""
        self.runs, self.fails = self.runs + 1, self.fails or fails
        if place := finding.place:
            self.errors[place.error] = self.errors.get(place.error, 0) + 1
        if len(name) < len(self.example):
            self.finding, self.example = finding, name

    @property
    def cause(self) -> str:
        """The finding in one line; crashes at one place with several errors name them all."""
        place = self.finding.place
        if place is None or len(self.errors) < 2:
            return one_line(self.finding)
        named = sorted(self.errors, key=lambda error: -self.errors[error])
        said = [f"{error} in {self.errors[error]}" for error in named[:ERRORS_MAX]]
        if left := named[ERRORS_MAX:]:
            said.append(counted(len(left), "other error"))
        return f"the target crashed at {place}: {', '.join(said)}"

    @property
    def title(self) -> str:
        """The code with its class, and a note if it fails no run."""
        return f"{self.finding.code}{finding_note(self.finding, self.fails)}"


class CauseTally:
    """The groups of the added runs; `noun` is the word for a run."""

    def __init__(self, noun: str = "run") -> None:
        self._groups: dict[str, CauseGroup] = {}
        self._noun = noun

    @classmethod
    def of(cls, runs: Iterable[Result]) -> Self:
        """Return the tally of these runs."""
        tally = cls()
        for run in runs:
            tally.add(run.name, run.verdict)
        return tally

    def add(self, name: str, verdict: Verdict) -> None:
        """Add the findings of one run, each cause once."""
        seen: set[str] = set()
        for finding in verdict.findings:
            key = _key(finding)
            if finding.follows or key in seen:
                continue
            seen.add(key)
            fails = finding.fails(verdict.fail_on)
            group = self._groups.setdefault(key, CauseGroup(finding, name, fails))
            group.add(finding, name, fails)

    def put(self, finding: Finding, name: str, runs: int) -> None:
        """Add runs that were counted elsewhere and that all fail by this finding."""
        self._groups[_key(finding)] = CauseGroup(finding, name, fails=True, runs=runs)

    def groups(self) -> list[CauseGroup]:
        """Return the groups: failing ones first, then by class (worst first), then by frequency."""
        return sorted(
            self._groups.values(),
            key=lambda group: (not group.fails, rank(group.finding), -group.runs),
        )

    def lines(self, width: int, paint: Paint = plain, most: int = GROUPS_MAX) -> Iterator[str]:
        """Yield a heading and two or three lines a group; nothing without a group."""
        groups = self.groups()
        if not groups:
            return
        shown = groups[:most]
        column = min(max(len(group.title) for group in shown), EXAMPLE_COLUMN_MAX)
        yield paint("strong", f"{self._noun}s  cause, and {_article(self._noun)} that shows it")
        for group in shown:
            yield from _group(group, column, len(self._noun) + 1, width, paint)
        if left := groups[most:]:
            yield paint("faint", f"and {len(left)} more: {_codes(left, width)}")


def _key(finding: Finding) -> str:
    """Return the code; for an end of the target also the place where it ended.

    An end may have no place: a program printed its own error, or an older version wrote the
    history. Then the beginning of the message takes its part.
    """
    if finding.check != "target":
        return finding.code
    return f"{finding.code} {finding.place or ': '.join(finding.message.split(': ')[:2])}"


def _group(group: CauseGroup, column: int, left: int, width: int, paint: Paint) -> Iterator[str]:
    title = paint("fail" if group.fails else "faint", group.title)
    indent = " " * (left + 2)
    blanks = " " * max(column - len(group.title), 0)
    line = f"{group.runs:>{left}}  {title}"
    if len(indent) + max(column, len(group.title)) + 2 + len(group.example) <= width:
        yield f"{line}{blanks}  {group.example}"
    else:
        yield line
        yield f"{indent}{group.example}"
    yield paint("faint", cut(f"{indent}{group.cause}", width))


def _codes(groups: list[CauseGroup], width: int) -> str:
    return cut(", ".join(dict.fromkeys(group.finding.code for group in groups)), width - 14)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
