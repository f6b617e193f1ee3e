"""The table of long tests names tests that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiers import TABLE, long_in, long_tests

ROOT = Path(__file__).parents[1]


def test_each_name_is_that_of_a_test() -> None:
    gone = [name for name in long_tests() if not _is_there(name)]
    assert gone == []


def _is_there(name: str) -> bool:
    path, _, case = name.partition("::")
    function = case.partition("[")[0]
    file = ROOT / path
    return file.is_file() and f"def {function}(" in file.read_text(encoding="utf-8")


def test_the_table_is_sorted_and_says_each_once() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))


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
