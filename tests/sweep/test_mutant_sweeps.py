"""Wrong agents beside a sweep of small scenarios."""

from __future__ import annotations

from tests.scenarios.reference_counts import expected
from tests.sweep.mutant_sweeps import FOLDERS, Row, row, smallest


def test_the_small_scenarios_are_of_ten_folders_and_run_a_tool() -> None:
    assert len({scenario.name for scenario in smallest()}) == FOLDERS
    assert all((expected(scenario) or {})["tools"] for scenario in smallest())


def test_a_mutant_is_found_by_a_case_or_by_the_run_itself() -> None:
    by_itself = row("cuts_replies", cases=1)
    assert (by_itself.code, by_itself.own) == ("reply_carried.cut", True)
    assert str(by_itself).endswith("reply_carried.cut  own")


def test_what_is_not_found_says_so() -> None:
    assert str(Row("swallows", 612)).split() == ["swallows", "612", "not", "found"]
