"""Counts over the results of a command: causes, files of `judge`.

Only names, numbers and one finding a cause stay in memory. So a tally grows with the number of
causes and not with the number of runs.

A week of sessions beside the week before: whether an agent in use becomes better or worse.

The newest session ends the week, not today, so a folder that is judged twice tells the same. A
session counts on the day on which it began, and a finding once a session. Findings that a baseline
accepts count in no week.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Literal, Self

import msgspec

from harness.checks.judge.causes import rank
from harness.core.values.messages import Json
from harness.core.values.verdict import Cause, Finding, FindingClass, Verdict, VerdictWord
from harness.verdicts.command_events import FileRead, refusal_line
from harness.verdicts.result import WORDS, Result

DAYS = 7


class Week(msgspec.Struct):
    """The sessions of the `DAYS` days up to `until`; `codes` counts those that a code fails."""

    until: str
    sessions: int = 0
    failed: int = 0
    codes: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, results: Iterable[Result]) -> None:
        """Add the transcripts of a session."""
        codes = {finding.code for result in results for finding in result.verdict.failing}
        self.sessions += 1
        self.failed += bool(codes)
        self.codes.update(codes)

    def join(self, day: Week) -> None:
        """Add the counts of another stretch of days."""
        self.sessions += day.sessions
        self.failed += day.failed
        self.codes.update(day.codes)


class SessionDays:
    """The sessions by day; the counts of a day do not grow with its sessions."""

    def __init__(self) -> None:
        self._days: dict[str, Week] = {}

    def add(self, day: str, results: Iterable[Result]) -> None:
        """Add a session of a day, as `2026-11-28`; "" is a session without one, and counts not."""
        if day:
            self._days.setdefault(day, Week(day)).add(results)

    def weeks(self) -> tuple[Week, Week] | None:
        """The last week and the one before; None if one of them has no session."""
        if not self._days:
            return None
        newest = date.fromisoformat(max(self._days))
        last, before = Week(str(newest)), Week(str(newest - timedelta(days=DAYS)))
        for day, counts in self._days.items():
            age = (newest - date.fromisoformat(day)).days
            if age < 2 * DAYS:
                (last if age < DAYS else before).join(counts)
        return (last, before) if before.sessions else None


class CauseGroup(msgspec.Struct):
    """Findings of one cause: how many results show it, and the one with the shortest name.

    For crashes at one place, `errors` counts the results of each error.
    """

    finding: Finding
    example: str
    fails: bool
    runs: int = 0
    errors: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, finding: Finding, name: str, fails: bool) -> None:
        """Add a result."""
        self.runs, self.fails = self.runs + 1, self.fails or fails
        if place := finding.place:
            self.errors[place.error] += 1
        if len(name) < len(self.example):
            self.finding, self.example = finding, name


class CauseTally:
    """Groups findings by code and cause: how many results show it, and which shows it best.

    Findings that follow from another are not counted.
    """

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Cause | str], CauseGroup] = {}

    @classmethod
    def of(cls, results: Iterable[Result]) -> Self:
        """Return the tally of these results."""
        tally = cls()
        for result in results:
            tally.add(result.name, result.verdict)
        return tally

    def add(self, name: str, verdict: Verdict) -> None:
        """Add the findings of one result, each cause once."""
        seen: set[tuple[str, Cause | str]] = set()
        for finding in verdict.findings:
            key = folded(finding)
            if finding.follows or key in seen:
                continue
            seen.add(key)
            fails = finding.fails(verdict.fail_on)
            group = self._groups.setdefault(key, CauseGroup(finding, name, fails))
            group.add(finding, name, fails)

    def put(self, finding: Finding, name: str, runs: int) -> None:
        """Add results that were counted elsewhere and that all fail by this finding."""
        self._groups[folded(finding)] = CauseGroup(finding, name, fails=True, runs=runs)

    def groups(self) -> list[CauseGroup]:
        """Return the groups by weight: failing ones first, of those the ends of the target, then by
        class and frequency."""
        return sorted(self._groups.values(), key=_weight)


CLASS_WEIGHTS = {"defect": 4, "weakness": 1, "": 1, "advice": 0.25}
"""How many weaknesses in a run one finding of a class outweighs. One defect in a hundred runs is
not the headline of an agent that loops in eighty."""


def _weight(group: CauseGroup) -> tuple[bool, bool, float, int]:
    """Return the sort key of a cause, the heaviest first."""
    finding = group.finding
    weight = group.runs * CLASS_WEIGHTS[finding.class_]
    return not group.fails, rank(finding) >= 0, -weight, rank(finding)


def folded(finding: Finding) -> tuple[str, Cause | str]:
    """Return the code and the cause; the errors of crashes at one line are one cause.

    The tool, the fault and the provider's error are left out: a scenario chooses them, and an agent
    with one defect meets dozens.
    """
    if finding.place:
        return finding.code, str(finding.place)
    is_end = finding.check == "target"
    return finding.code, finding.cause if is_end else Cause(subject=finding.cause.subject)


class JudgedTotals:
    """The counts of the files of `judge` so far: results, refusals, and the checks they were
    asked."""

    def __init__(self) -> None:
        self.files = 0
        self.words: Counter[VerdictWord] = Counter()
        self.refused: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.causes = CauseTally()
        self.below: Counter[FindingClass | Literal[""]] = Counter()
        self.asked: Counter[str] = Counter()
        self.asked_of = 0
        self.days = SessionDays()

    def add(self, file: FileRead) -> None:
        """Add a file."""
        self.files += 1
        self.days.add(file.day, file.results)
        self.refused.update(map(refusal_line, file.refusals))
        self.reasons.update(refusal.reason for refusal in file.refusals)
        for result in file.results:
            self.words[result.word] += 1
            self.causes.add(file.path, result.verdict)
            self.below.update(finding.class_ for finding in result.verdict.below)
            self.asked.update(result.asked)
            self.asked_of = max(self.asked_of, result.asked_of)

    @property
    def transcripts(self) -> int:
        """The number of results."""
        return self.words.total()

    def as_json(self) -> Json:
        """Return the totals as an object, for a command that judges more than one file."""
        words: dict[str, Json] = {WORDS[word]: number for word, number in self.words.items()}
        totals = {"files": self.files, "transcripts": self.transcripts, **words}
        asked = {"asked": dict(self.asked.most_common()), "asked_of": self.asked_of}
        weeks = self.days.weeks()
        trend: dict[str, Json] = {"weeks": msgspec.to_builtins(weeks)} if weeks else {}
        return {**totals, **asked, "refused": dict(self.refused), **trend}
