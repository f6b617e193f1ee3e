"""Which fast tests run which line: one run of the tests under coverage, each test a context.

A test that fails, or takes longer than `LONGEST_S`, chooses nothing and judges nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.mutation.places import Places
from tests.mutation.sample import ROOMS

ROOT = Path(__file__).parents[2]
DOCUMENTS = "test_docs_complete.py"
MEASURED = (
    *ROOMS,
    "scenarios",
    "recordings",
    "agent",
    "cassettes",
    "contracts",
    "files",
    "runner",
    DOCUMENTS,
)
"""The tests that are measured: folders that ask most of the four rooms, and one file."""

LONGEST_S = 60.0
FEW = 5

Contexts = Mapping[int, Iterable[str]]
"""The names of the tests that ran a line, by line."""


class Times:
    """A pytest plugin that notes how long each test takes that passes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add the time of a phase."""
        test = report.nodeid
        self.seconds[test] = self.seconds.get(test, 0.0) + report.duration
        if report.outcome != "passed":
            self.failed.add(test)

    def passed(self) -> dict[str, float]:
        """The seconds of the tests that passed."""
        return {test: s for test, s in self.seconds.items() if test not in self.failed}


def measure(folder: Path, workers: int) -> None:
    """Measure each folder of tests that is not measured yet: a data file and the times of each."""
    for name in MEASURED:
        if times_file(folder, name).exists():
            continue
        print(f"measure tests/{name}", flush=True)
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "ci"}
        environment["COVERAGE_FILE"] = str(data_file(folder, name))
        command = [sys.executable, "-m", "tests.mutation.reach", name, str(folder), str(workers)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)


def measure_one(name: str, folder: Path, workers: int) -> None:
    """Run the tests of a folder under coverage; this process is for nothing else."""
    rooms = [f"--cov=harness/{room}" for room in ROOMS]
    options = ["-q", "-n", str(workers), "-m", "long or not real", "-p", "no:cacheprovider"]
    times = Times()
    pytest.main(
        [*options, *rooms, "--cov-context=test", "--cov-report=", f"tests/{name}"], plugins=[times]
    )
    times_file(folder, name).write_text(json.dumps(times.passed()))


def data_file(folder: Path, name: str) -> Path:
    """The coverage of a folder of tests."""
    return folder / f"reach-{name}.coverage"


def times_file(folder: Path, name: str) -> Path:
    """The times of a folder of tests."""
    return folder / f"reach-{name}.json"


class Reach:
    """The tests that run a line, with their times; `contexts` reads what ran in a file."""

    def __init__(
        self, seconds: Mapping[str, float], contexts: Callable[[str], list[Contexts]]
    ) -> None:
        self.seconds = {test: s for test, s in seconds.items() if s <= LONGEST_S}
        self._contexts = contexts

    def without(self, tests: Collection[str]) -> Reach:
        """The same without some tests."""
        left = {test: s for test, s in self.seconds.items() if test not in tests}
        return Reach(left, self._contexts)

    def tests(self, file: str, line: int, places: Places) -> list[str]:
        """The tests that run the statement of a line, quickest first.

        What runs at import alone, a constant say, is of all tests that run anything of the file.
        The tests that compare the documents with the code join them. What hardly any test runs
        may run in a process that a test starts: it is of all in the nearest folder that mirrors the
        file.
        """
        if places.runs_at_import(line):
            found = self._ran(file, None)
            found |= {test for test in self.seconds if test.startswith(f"tests/{DOCUMENTS}::")}
        elif len(found := self._ran(file, places.lines(line))) < FEW:
            found |= self._ran(file, None) | self._mirrors(file)
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def _mirrors(self, file: str) -> set[str]:
        for folder in PurePosixPath(file).relative_to("harness").parents:
            found = {test for test in self.seconds if test.startswith(f"tests/{folder}/")}
            if found:
                return found
        return set()

    def _ran(self, file: str, lines: range | None) -> set[str]:
        ran = (
            name.partition("|")[0]
            for contexts in self._contexts(file)
            for line, names in contexts.items()
            if lines is None or line in lines
            for name in names
        )
        return self.seconds.keys() & set(ran)


def read(folder: Path) -> Reach:
    """What was measured."""
    from coverage import CoverageData  # only the environment of `make mutation` has it

    seconds: dict[str, float] = {}
    measured = []
    for name in MEASURED:
        seconds |= json.loads(times_file(folder, name).read_text())
        measured.append(CoverageData(str(data_file(folder, name))))
        measured[-1].read()

    def contexts(file: str) -> list[Contexts]:
        return [data.contexts_by_lineno(str(ROOT / file)) for data in measured]

    return Reach(seconds, contexts)


if __name__ == "__main__":
    measure_one(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
