"""A week of sessions beside the week before: whether an agent in use becomes better or worse.

The newest session ends the week, not today, so a folder that is judged twice tells the same. A
session counts on the day on which it began, and a finding once a session. Findings that a baseline
accepts count in no week.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from harness.verdicts.result import Result

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
