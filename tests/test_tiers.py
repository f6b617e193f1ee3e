"""The table of long tests names tests that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiers import SHARES, TABLE, long_in, long_tests, mark, night_shares

ROOT = Path(__file__).parents[1]


def test_each_name_is_that_of_a_test() -> None:
    gone = [name for name in (*long_tests(), *night_shares()) if not _is_there(name)]
    assert gone == []


def _is_there(name: str) -> bool:
    path, _, case = name.partition("::")
    function = case.partition("[")[0]
    file = ROOT / path
    return file.is_file() and f"def {function}(" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [TABLE, SHARES])
def test_a_table_is_sorted_and_says_each_once(table: Path) -> None:
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))


class _Case:
    def __init__(self, nodeid: str) -> None:
        self.nodeid, self.marks = nodeid, ["real"]

    def add_marker(self, one: pytest.MarkDecorator) -> None:
        self.marks.append(one.name)

    def get_closest_marker(self, name: str) -> bool:
        return name in self.marks


@pytest.mark.parametrize("share", [0, 3])
def test_a_share_of_the_cases_is_played_by_day(share: int) -> None:
    name = next(name for name, value in night_shares().items() if value == share)
    cases = [_Case(f"{name}[{number}]") for number in range(7)]
    mark(cases)  # type: ignore[arg-type]
    by_day = [number for number, case in enumerate(cases) if "nightly" not in case.marks]
    assert by_day == ([0, 3, 6] if share else [])


def test_a_timed_test_is_of_no_tier() -> None:
    timed = _Case("tests/test_any.py::test_growth")
    timed.marks = ["timed"]
    mark([timed])  # type: ignore[list-item]
    assert timed.marks == ["timed", "real", "nightly"]


def test_what_took_long_is_read_from_results(tmp_path: Path) -> None:
    cases = [("short", 1.9, ""), ("long", 2.0, ""), ("left", 9.0, "<skipped/>")]
    rows = (
        f'<testcase classname="tests.cli.test_run" name="test_{name}" time="{time}">{inner}'
        "</testcase>"
        for name, time, inner in cases
    )
    (tmp_path / "j.xml").write_text(
        f"<testsuites><testsuite>{''.join(rows)}</testsuite></testsuites>"
    )
    assert [*long_in(tmp_path / "j.xml")] == ["tests/cli/test_run.py::test_long"]


def test_a_long_test_is_of_the_slow_tier(request: pytest.FixtureRequest) -> None:
    marked = [
        item
        for item in request.session.items
        if item.nodeid in long_tests() and not item.get_closest_marker("real")
    ]
    assert marked == []
