"""Reach: the tests that run a line, quickest first."""

from __future__ import annotations

import pytest

from tests.mutation.places import Places
from tests.mutation.reach import DOCUMENTS, LONGEST_S, Reach, Times

TEXT = """\
LIMIT = 3


def total(count: int) -> int:
    return (
        count + LIMIT
    )


def other() -> int:
    return 1


def never() -> int:
    return 2
"""
RAN = [
    {1: [""], 5: ["slow::a|run", "quick::b|run"]},
    {6: ["quick::c|setup", "failed::d|run"], 11: ["late::e|run", "other::f|run"]},
]
SECONDS = {"slow::a": 9.0, "quick::b": 1.0, "quick::c": 2.0, "late::e": LONGEST_S + 1}
FILE = "harness/core/file.py"
DOCUMENTED = f"tests/{DOCUMENTS}::test_api"
SECONDS |= {"other::f": 3.0, DOCUMENTED: 4.0}


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (6, ["quick::b", "quick::c", "slow::a"]),
        (11, ["other::f"]),
        (1, ["quick::b", "quick::c", "other::f", DOCUMENTED, "slow::a"]),
    ],
)
def test_the_tests_of_a_line_are_those_that_run_its_statement(
    monkeypatch: pytest.MonkeyPatch, line: int, tests: list[str]
) -> None:
    """What runs at import is of all tests of the file and of the documents; a test that failed or
    is too long is of none."""
    monkeypatch.setattr("tests.mutation.reach.FEW", 1)
    reach = Reach(SECONDS, lambda file: list(RAN))
    assert reach.tests(FILE, line, Places(TEXT)) == tests


def test_a_line_that_few_tests_run_is_of_all_tests_of_the_file() -> None:
    reach = Reach(SECONDS, lambda file: list(RAN))
    assert reach.tests(FILE, 11, Places(TEXT)) == ["quick::b", "quick::c", "other::f", "slow::a"]


def test_a_test_may_be_left_out() -> None:
    reach = Reach(SECONDS, lambda file: list(RAN)).without({"quick::b"})
    assert reach.tests(FILE, 6, Places(TEXT)) == ["quick::c", "other::f", "slow::a"]


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("harness/faults/sse/framing.py", ["tests/faults/sse/test_met.py::f"]),
        (
            "harness/faults/tools.py",
            ["tests/faults/sse/test_met.py::f", "tests/faults/test_x.py::f"],
        ),
        ("harness/core/values/plans.py", []),
    ],
)
def test_what_only_a_child_process_runs_is_of_the_nearest_folder(
    file: str, tests: list[str]
) -> None:
    """A folder of a room, or else the room."""
    seconds = {"tests/faults/sse/test_met.py::f": 1.0, "tests/faults/test_x.py::f": 2.0}
    reach = Reach({**seconds, DOCUMENTED: 3.0}, lambda file: [])
    assert reach.tests(file, 6, Places(TEXT)) == tests
    assert reach.tests(file, 1, Places(TEXT)) == [DOCUMENTED]


class Report:
    """A report of pytest, as far as the plugin reads it."""

    def __init__(self, nodeid: str, duration: float, outcome: str) -> None:
        self.nodeid, self.duration, self.outcome = nodeid, duration, outcome


def test_a_test_takes_all_its_phases_and_chooses_only_if_it_passes() -> None:
    times = Times()
    for report in (
        Report("a", 1.0, "passed"),
        Report("a", 0.5, "passed"),
        Report("b", 1.0, "passed"),
        Report("b", 1.0, "failed"),
        Report("c", 1.0, "skipped"),
    ):
        times.pytest_runtest_logreport(report)
    assert times.passed() == {"a": 1.5}
