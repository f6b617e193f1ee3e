"""Targets that end or behave badly: each is a finding of its own run, and the next run is played.

All of a table are played by one command, each before a run of the same target that does nothing
wrong. The slow tier takes every third of a table; `make hardening` sets `HARNESS_EVERY_WRITE` and
plays all of it, with one worker and with two.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping

import pytest

from tests.hardening import bad_programs, bad_targets
from tests.hardening.bad_targets import Ending
from tests.hardening.work_folder import EVERY, Place

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
]

_SCENARIO = """\
name: s{number:02}
title: {name}
inbox: {name}
limits: {{real_s: {real_s}}}
script: [{{say: Good morning.}}]
variants: {{whole: {{inbox: Hello}}}}
"""
_JOBS = [("-j", "1"), ("-j", "2")] if EVERY else [("-j", "2")]


def _played(
    place: Place, names: Mapping[str, Ending], target: str, jobs: tuple[str, ...], real_s: int
) -> None:
    names = dict([*names.items()][:: 1 if EVERY else 3])
    shutil.rmtree(place.folder / "scenarios")
    (place.folder / "scenarios").mkdir()
    for number, name in enumerate(names):
        text = _SCENARIO.format(number=number, name=name, real_s=real_s)
        (place.folder / f"scenarios/s{number:02}.yaml").write_text(text)
    words = ("run", "scenarios", "--target", target, "--json", "--out", "out", *jobs)
    done = place.harness(words)
    assert done.returncode == 1, done.stderr[-2000:]
    *runs, _ = map(json.loads, done.stdout.splitlines())
    rows = {row["name"]: row for row in runs}
    wrong = [
        f"{name}: {row['verdict']} {[(f['code'], f['message'][:200]) for f in row['findings']]}"
        for number, (name, expected) in enumerate(names.items())
        for row in (rows[f"s{number:02}"], rows[f"s{number:02}/whole"])
        if not _is_expected(row, Ending() if row["name"].endswith("whole") else expected)
    ]
    assert wrong == []
    assert place.left() == []
    assert place.scratch() == []
    assert place.torn("out") == []


def _is_expected(row: dict[str, object], expected: Ending) -> bool:
    found = row["findings"]
    assert isinstance(found, list)
    codes = {finding["code"] for finding in found}
    told = any(expected.text in finding["message"] for finding in found)
    return (row["verdict"], codes) == (expected.verdict, expected.codes) and (told or not codes)


@pytest.mark.parametrize("jobs", _JOBS)
def test_python_targets(place: Callable[[str], Place], jobs: tuple[str, ...]) -> None:
    made = place("targets")
    (made.folder / "bad.py").write_text(bad_targets.SOURCE)
    _played(made, bad_targets.ENDINGS, "bad:agent", jobs, real_s=30)


@pytest.mark.parametrize("jobs", _JOBS)
def test_programs(place: Callable[[str], Place], jobs: tuple[str, ...]) -> None:
    made = place("programs")
    (made.folder / "bad.py").write_text(bad_programs.SOURCE)
    _played(made, bad_programs.BEHAVIOURS, "process:python bad.py", jobs, real_s=4)
