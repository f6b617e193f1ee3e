"""What a row gave is counted from what pytest writes, and a broken session is never a pass."""

from __future__ import annotations

import pytest

from tests.compat.playing import counts, told

REPORT = (
    '<testsuites><testsuite tests="9" failures="1" errors="2" skipped="2">'
    '<testcase name="a"/></testsuite></testsuites>'
)


def test_a_report_is_counted() -> None:
    assert counts(REPORT) == (4, 3)


@pytest.mark.parametrize(
    ("passed", "failed", "is_whole", "failures"),
    [(9, 0, True, 0), (9, 2, False, 2), (9, 0, False, 1), (0, 0, True, 1), (0, 0, False, 1)],
)
def test_a_session_that_breaks_off_or_runs_nothing_fails(
    passed: int, failed: int, is_whole: bool, failures: int
) -> None:
    fields = told(passed, failed, is_whole=is_whole)
    assert fields == {"tests_passed": passed, "tests_failed": failures}
