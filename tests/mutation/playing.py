"""Runs the tests of a mutant in a copy of the tree, in three stages, until the first that fails.

The nearest tests come first, then all in reach of the mutant's own room, then those of other rooms.
These are taken quickest first, one of each test function before the next parameters of any, until
`WIDE_S` of measured time.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.reach import DOCUMENTS
from tests.mutation.table import KILLED, NO_TEST, NOT_RUN, SURVIVED, TIMED_OUT, Result
from tests.seeds.audit import PRELOADED, run_tests

NEAR_FILES, NEAR_S = 3, 5.0
WIDE_S = 30.0
START_S, SLOWER = 120.0, 10
"""A run may take this long to begin, and be this much slower than it was measured."""


class Chosen:
    """A pytest plugin that keeps the chosen tests, in their order, and notes how they end."""

    def __init__(self, tests: Sequence[str], notes: Path) -> None:
        self._order = {test: number for number, test in enumerate(tests)}
        self._notes = notes
        self._passed = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out all other tests; a file stands for all of its tests."""
        places = {
            item: self._order.get(item.nodeid, self._order.get(_file(item.nodeid)))
            for item in items
        }
        chosen = [(place, item) for item, place in places.items() if place is not None]
        items[:] = [item for _, item in sorted(chosen, key=lambda pair: pair[0])]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note a test that fails; pytest ends with it."""
        if report.outcome == "failed":
            self._notes.write_text(f"{report.nodeid}\n{report.longreprtext}")
        self._passed += report.when == "call" and report.outcome == "passed"

    def pytest_collectreport(self, report: Any) -> None:
        """Note a file of tests that cannot be imported."""
        if report.outcome == "failed":
            self._notes.write_text(f"{report.nodeid}\n{report.longreprtext}")

    def pytest_sessionfinish(self) -> None:
        """Note how many passed where none failed."""
        if not self._notes.exists():
            self._notes.write_text(str(self._passed))


def stages(tests: Sequence[str], room: str, seconds: Mapping[str, float]) -> Iterator[list[str]]:
    """The nearest tests, the room's others and the documents', and those of other rooms; `tests`
    are in reach."""
    own = [test for test in tests if test.startswith(f"tests/{room}/")]
    documents = [test for test in tests if _file(test) == f"tests/{DOCUMENTS}"]
    files = Counter(map(_file, own))
    nearest = {file for file, _ in files.most_common(NEAR_FILES)}
    near = within(spread(test for test in own if _file(test) in nearest), seconds, NEAR_S)
    first = set(near)
    rest = spread(test for test in own if test not in first)
    known = {*own, *documents}
    others = spread(test for test in tests if test not in known)
    yield from filter(None, (near, rest + documents, within(others, seconds, WIDE_S)))


def spread(tests: Iterable[str]) -> list[str]:
    """The tests in their order, but the first of each function before the second of any."""
    turns: dict[str, int] = defaultdict(int)
    rounds: dict[int, list[str]] = defaultdict(list)
    for test in tests:
        function = test.partition("[")[0]
        rounds[turns[function]].append(test)
        turns[function] += 1
    return [test for number in sorted(rounds) for test in rounds[number]]


def within(tests: Sequence[str], seconds: Mapping[str, float], most_s: float) -> list[str]:
    """As many of the tests, from the first, as take this long; at least one."""
    total, found = 0.0, list[str]()
    for test in tests:
        total += seconds[test]
        if found and total > most_s:
            break
        found.append(test)
    return found


def judged(tree: Path, plan: Iterable[list[str]], seconds: Mapping[str, float]) -> Result:
    """What the tests of a plan say of a changed tree."""
    passed = 0
    for tests in plan:
        limit_s = START_S + SLOWER * sum(seconds[test] for test in tests)
        result = played(tree, tests, limit_s)
        if result.word != SURVIVED:
            return result
        passed += int(result.said)
    return Result(SURVIVED, str(passed)) if passed else Result(NO_TEST, "0")


def control(killers: Iterable[str], unchanged: Callable[[list[str]], Result]) -> set[str]:
    """The tests among those that killed which fail on the `unchanged` tree too."""
    tests, failing = sorted({killer for killer in killers if "::" in killer}), set[str]()
    while tests and (failed := unchanged(tests)).word != SURVIVED:
        if failed.said not in tests:
            raise SystemExit(f"the control did not end: {failed}")
        tests.remove(failed.said)
        failing.add(failed.said)
    return failing


@contextlib.contextmanager
def changed_file(path: Path, text: str) -> Iterator[None]:
    """The file has another text for a while; its time comes back too, so its module stays valid."""
    kept = path.with_suffix(".kept")
    shutil.copy2(path, kept)
    try:
        path.write_text(text)
        yield
    finally:
        kept.replace(path)


def played(tree: Path, tests: Sequence[str], limit_s: float) -> Result:
    """How some tests end in a tree: in a separate process, which ends with all that it starts."""
    notes = tree / "notes.txt"
    notes.unlink(missing_ok=True)
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(PRELOADED)
    run = forks.Process(target=_play, args=(str(tree), list(tests), str(notes)))
    run.start()
    run.join(limit_s)
    late = run.exitcode is None
    if run.pid and late:
        os.killpg(run.pid, signal.SIGKILL)
        run.join()
    return _result(run.exitcode, late, notes.read_text() if notes.exists() else "")


def _result(status: int | None, late: bool, notes: str) -> Result:
    if late or "Timeout (>" in notes:
        return Result(TIMED_OUT, notes.partition("\n")[0])
    if status == pytest.ExitCode.OK:
        return Result(SURVIVED, notes)
    if status in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        return Result(NOT_RUN, f"pytest ends with {status}")
    return Result(KILLED, notes.partition("\n")[0] or f"pytest ends with {status}")


def _play(tree: str, tests: list[str], notes: str) -> None:
    os.setsid()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    files = list(dict.fromkeys(_file(test) for test in tests))
    run_tests(tree, files, compiles=False, plugins=[Chosen(tests, Path(notes))])


def _file(test: str) -> str:
    return test.partition("::")[0]
