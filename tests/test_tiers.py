"""The table of long tests names tests that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiers import (
    SHARES,
    TABLE,
    costs_in,
    long_in,
    long_tests,
    mark,
    night_shares,
    shares_in,
)

ROOT = Path(__file__).parents[1]


def test_each_name_is_that_of_a_test() -> None:
    gone = [name for name in (*long_tests(), *night_shares()) if not _is_there(name)]
    assert gone == []


def _is_there(name: str) -> bool:
    path, _, case = name.partition("::")
    kind, _, function = case.partition("[")[0].rpartition("::")
    file = ROOT / path
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return f"{kind} = " in text if kind else f"def {function}(" in text


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


@pytest.mark.parametrize("tier", [["real"], []])
@pytest.mark.parametrize("share", [0, 3])
def test_a_share_of_the_cases_is_played_by_day(share: int, tier: list[str]) -> None:
    name = next(name for name, value in night_shares().items() if value == share)
    cases = [_Case(f"{name}[{number}]") for number in range(7)]
    for case in cases:
        case.marks = [*tier]
    mark(cases)  # type: ignore[arg-type]
    by_day = [number for number, case in enumerate(cases) if "nightly" not in case.marks]
    assert by_day == ([0, 3, 6] if share else [])
    assert {"real"} <= set.intersection(*(set(c.marks) for c in cases if "nightly" in c.marks))


def test_a_timed_test_is_of_no_tier() -> None:
    timed = _Case("tests/test_any.py::test_growth")
    timed.marks = ["timed"]
    mark([timed])  # type: ignore[list-item]
    assert timed.marks == ["timed", "real", "nightly"]


def _results(path: Path, *cases: tuple[str, float, str]) -> Path:
    rows = (
        f'<testcase classname="tests.cli.test_run{kind}" name="test_{name}" time="{time}" />'
        for name, time, kind in cases
    )
    left = (
        '<testcase classname="tests.cli.test_run" name="test_left" time="9"><skipped/></testcase>'
    )
    path.write_text(f"<testsuites><testsuite>{''.join(rows)}{left}</testsuite></testsuites>")
    return path


FILE = "tests/cli/test_run.py::test_"


def test_what_took_long_is_read_from_results(tmp_path: Path) -> None:
    results = _results(
        tmp_path / "j.xml",
        ("short", 0.3, ""),
        ("method", 0.7, ".KindTest"),
        ("long[a]", 0.3, ""),
        ("long[b]", 0.6, ""),
        *((f"some[{number}]", 0.0, "") for number in range(9)),
        ("some[slow]", 2.1, ""),
    )
    assert long_in(costs_in(results)) == {
        f"{FILE}long",
        f"{FILE}some[slow]",
        "tests/cli/test_run.py::KindTest::test_method",
    }


def test_what_a_day_has_no_time_for_is_shared_with_the_night(tmp_path: Path) -> None:
    results = _results(
        tmp_path / "j.xml",
        ("cheap", 9.9, ""),
        ("dear", 10.1, ""),
        ("many[a]", 8.0, ""),
        ("many[b]", 7.0, ""),
        ("many[c]", 9.0, ""),
    )
    assert shares_in(costs_in(results)) == {f"{FILE}dear": 0, f"{FILE}many": 3}


def test_a_long_test_is_of_the_slow_tier(request: pytest.FixtureRequest) -> None:
    marked = [
        item
        for item in request.session.items
        if not long_tests().isdisjoint((item.nodeid, item.nodeid.partition("[")[0]))
        and not item.get_closest_marker("real")
    ]
    assert marked == []
