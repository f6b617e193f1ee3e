"""The rows name what pyproject.toml takes, and the page shows what was seen last."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from tests.compat.environments import ROOT, data, interpreter
from tests.compat.results import PAGE, Result, page, read, with_result, write

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
GOOD = Result("pytest-8", "3.11.7", "2.11.0", "3.52.0", "8.4.2", 9, 0, 8, 0, 1)


def test_every_row_plays_a_set_and_all_that_a_set_names_is_there() -> None:
    assert {row.plays for row in data().rows.values()} <= data().sets.keys()
    for played in data().sets.values():
        assert [
            path for path in (*played.tests, *played.scenarios) if not (ROOT / path).exists()
        ] == []


def test_the_oldest_python_has_a_row_and_each_classifier_one_that_passed() -> None:
    rows = data().rows
    oldest = min((row.python for row in rows.values()), key=lambda version: int(version[2:]))
    assert PROJECT["requires-python"] == f">={oldest}"
    named = set(re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"])))
    assert named <= {rows[found.name].python for found in read().values() if found.is_good}


@pytest.mark.parametrize("package", ["anthropic", "openai", "pytest"])
def test_each_generation_that_is_taken_has_a_row(package: str) -> None:
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["openai"]]
    (bounds,) = (
        re.findall(r"\d+", a.split("<")[0])[0] + a.split("<")[1]
        for a in asked
        if a.startswith(package + ">")
    )
    played = [row.packages[package] for row in data().rows.values() if package in row.packages]
    assert sorted({int(v.split(".")[0]) for v in played}) == [
        *range(int(bounds[0]), int(bounds[1:]))
    ]


def test_the_page_is_made_of_the_kept_results() -> None:
    assert PAGE.read_text("utf-8") == page(read())
    assert [found.name for found in read().values() if found.is_played and not found.is_good] == []


def test_a_row_that_could_not_be_played_says_why(tmp_path: Path) -> None:
    bare = Result("python-3.14", reason="this machine has no Python 3.14 with venv")
    write({bare.name: bare, GOOD.name: GOOD}, tmp_path / "kept.tsv")
    assert read(tmp_path / "kept.tsv") == {bare.name: bare, GOOD.name: GOOD}
    (line,) = (line for line in page({bare.name: bare}).splitlines() if bare.name + " |" in line)
    assert line.startswith("| python-3.14 | 3.14 |")
    assert line.endswith(f"| not played: {bare.reason} |")
    assert line.count("|") == 9
    assert not bare.is_good


def test_a_reason_replaces_no_result_and_a_result_replaces_both() -> None:
    bare, older = Result(GOOD.name, reason="no such Python"), Result(GOOD.name, tests_failed=1)
    assert with_result({}, bare) == {GOOD.name: bare}
    assert with_result({GOOD.name: older}, bare) == {GOOD.name: older}
    for kept in (bare, older):
        assert with_result({GOOD.name: kept}, GOOD) == {GOOD.name: GOOD}


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    bad = msgspec.structs.replace(GOOD, tests_failed=2)
    write({bad.name: bad}, tmp_path / "kept.tsv")
    assert read(tmp_path / "kept.tsv") == {bad.name: bad}
    assert "| 9 pass, 2 fail | 8 pass | **fails** |" in page({bad.name: bad})
    assert "| works |" in page({GOOD.name: GOOD})


def test_this_python_is_found_and_none_of_another_world() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert interpreter(version)
    assert interpreter("9.99") is None
