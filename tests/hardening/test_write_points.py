"""Each command killed, and its disk full, at each of its writes: what is there is old or new.

Afterwards the command that goes on brings what an undisturbed one brings, nothing unfinished
stays, and no process is left. The fast tier takes a few points of two commands, the slow one three
of each; `make hardening` sets `HARNESS_EVERY_WRITE` and takes every point, for an hour.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hardening.work_folder import EVERY, JOURNALS, Place, Tree, is_json, is_whole


@dataclass(frozen=True)
class Case:
    """A command, the one that goes on after it was broken off, and where its results stand."""

    words: tuple[str, ...]
    again: tuple[str, ...]
    results: str
    statuses: tuple[int, ...] = (0,)


_RUN = ("run", "scenarios", "--target", "agents:good", "--out", "out", "-j", "1")
_IMPORT = ("import", "a.yaml", "--name", "told", "--out", "out", "--force")
_RECORD = ("record", "out/x.yaml", "--target", "url_agents:good", "--prompt", "Hi", "--upstream")
_SHRINK = ("shrink", "scenarios/greeting.yaml", "--only", "greeting", "--target", "agents:crashing")
_FUZZ = ("--workers", "1", "--examples", "3")
CASES = {
    "run": Case(_RUN, _RUN, "out"),
    "import": Case(_IMPORT, _IMPORT, "out"),
    "record": Case(_RECORD, _RECORD, "out"),
    "shrink": Case((*_SHRINK, "--out", "out"), (*_SHRINK, "--out", "out"), "out"),
    "judge": Case(
        ("judge", "recordings", "--resume", "out"),
        ("judge", "recordings", "--resume", "out"),
        "out",
        statuses=(0, 1),
    ),
    "fuzz": Case(
        ("fuzz", "--target", "agents:crashing", "--seed", "1", "--out", "out", *_FUZZ),
        ("fuzz", "--resume", "out", *_FUZZ),
        "out",
        statuses=(1,),
    ),
}


LONG = ("shrink", "fuzz")
"""Each play of them costs seconds, and each point is one."""


def _visible(tree: Tree) -> Tree:
    return {name: data for name, data in tree.items() if not Path(name).name.startswith(".")}


def _settled(tree: Tree) -> Tree:
    """What two undisturbed commands have in common: journals as sets of lines, no times."""
    return {
        name: _lines(data) if Path(name).name in JOURNALS else _TIME.sub(b"", data)
        for name, data in tree.items()
    }


_TIME = re.compile(rb"(?<=at_ms: )\d+|(?<=\d@)\d+")


def _lines(data: bytes) -> bytes:
    """The whole lines of a journal, once each, without a torn one."""
    return b"\n".join(sorted({line for line in data.splitlines() if is_json(line)}))


def _check(place: Place, case: Case, expected: Tree, how: str, number: int) -> None:
    done = place.harness(case.words, WRITE_POINTS=f"{how} {number}")
    told = f"{how} at write {number}: {done.returncode} {done.stderr[-400:]}"
    if how == "full":
        assert "Traceback" not in done.stderr, told
        assert "harness failure" not in done.stderr, told
    else:
        assert done.returncode == -9, told
    assert place.left() == [], told
    torn = [n for n, data in _visible(place.tree(case.results)).items() if not is_whole(n, data)]
    assert torn == [], told
    words = case.again if (place.folder / "out/campaign.jsonl").exists() else case.words
    again = place.harness(words, WRITE_POINTS="kill 0")
    if again.returncode == 2 and words == case.again != case.words:
        shutil.rmtree(place.folder / "out")  # it was broken off before its journal had a line
        again = place.harness(case.words, WRITE_POINTS="kill 0")
    assert again.returncode in case.statuses, f"{told}\nthen {again.stderr[-600:]}"
    assert _settled(place.tree(case.results)) == expected, told
    assert place.scratch() == [], told


def _points(case: Case, place: Callable[[str], Place]) -> tuple[int, Tree]:
    """How many writes the command has, and what it comes to."""
    fresh = place("counted")
    done = fresh.harness(case.words, WRITE_POINTS="kill 0")
    assert done.returncode in case.statuses, done.stderr
    count = fresh.counted.stat().st_size
    assert count > 3
    assert fresh.processes() == []
    return count, _settled(fresh.tree(case.results))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.parametrize("name", ["import", pytest.param("run", marks=pytest.mark.real)])
def test_some_writes(name: str, place: Callable[[str], Place]) -> None:
    count, expected = _points(CASES[name], place)
    for how, number in (("kill", count // 2), ("full", count // 2 + 1)):
        _check(place(name), CASES[name], expected, how, number)


@pytest.mark.real
@pytest.mark.timeout(7200)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
@pytest.mark.parametrize("how", ["kill", "full"])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.nightly] * (n in LONG)) for n in CASES]
)
def test_writes(name: str, how: str, place: Callable[[str], Place]) -> None:
    count, expected = _points(CASES[name], place)
    numbers = _chosen(count, EVERY)
    print(f"{name}: {how} at {len(numbers)} of {count} writes")
    for number in numbers:
        _check(place(name), CASES[name], expected, how, number)


def _chosen(count: int, every: bool) -> list[int]:
    """All numbers from 1 to `count`, or three of them, the first, the middle and the last."""
    if every:
        return [*range(1, count + 1)]
    return sorted({1 + round(place * (count - 1) / 2) for place in range(3)})
