"""A week of sessions beside the week before."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from harness.core.values.verdict import Finding, Verdict
from harness.verdicts.result import Result, of_transcript
from harness.verdicts.tallies import DAYS, SessionDays

DATES = st.dates(date(2026, 2, 1), date(2026, 3, 31))


def session(*codes: str) -> list[Result]:
    """A session of two transcripts, each with these findings."""
    found = tuple(Finding(code, "said", (1,), "defect") for code in codes)
    verdict = Verdict("fail" if found else "pass", findings=found)
    return [of_transcript("a.jsonl", name, "claude_code", verdict) for name in "ab"]


def test_a_session_counts_once_on_the_day_on_which_it_began() -> None:
    days = SessionDays()
    days.add("2026-03-01", session("loops.same_call", "loops.same_call"))
    days.add("2026-02-23", session())
    days.add("2026-02-22", session("tool_pairing.orphan"))
    days.add("", session("loops.same_call"))
    weeks = days.weeks()
    assert weeks is not None
    last, before = weeks
    assert (last.until, last.sessions, last.failed) == ("2026-03-01", 2, 1)
    assert dict(last.codes) == {"loops.same_call": 1}
    assert (before.until, before.sessions, before.failed) == ("2026-02-22", 1, 1)
    assert dict(before.codes) == {"tool_pairing.orphan": 1}


def test_a_week_without_one_before_is_no_trend() -> None:
    days = SessionDays()
    assert days.weeks() is None
    for day in ("2026-03-01", "2026-02-23", "2026-02-15"):
        days.add(day, session())
    assert days.weeks() is None


@given(st.lists(DATES, min_size=1).flatmap(lambda d: st.tuples(st.just(d), st.permutations(d))))
def test_the_weeks_do_not_depend_on_the_order(dates: tuple[list[date], list[date]]) -> None:
    found = []
    for order in dates:
        days = SessionDays()
        for day in order:
            days.add(str(day), session())
        found.append(days.weeks())
    assert found[0] == found[1]
    if weeks := found[0]:
        newest = max(dates[0])
        ages = [(newest - day) // timedelta(days=1) for day in dates[0]]
        assert weeks[0].sessions == sum(age < DAYS for age in ages)
        assert weeks[1].sessions == sum(DAYS <= age < 2 * DAYS for age in ages)
