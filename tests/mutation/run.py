"""Plays the mutants of a session that have no result, and checks what killed them."""

from __future__ import annotations

import contextlib
import difflib
import math
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutation import library, reach
from tests.mutation.places import Places
from tests.mutation.playing import changed_file, control, judged, played, stages
from tests.mutation.sample import CodeMutant
from tests.mutation.table import KILLED, NOT_RUN, Result
from tests.seeds.audit import copied, status_of

ROOT = reach.ROOT
WARM = ("tests/core", "tests/faults/test_fault.py", "tests/checks/test_progress.py")
CONTROL_S = 1200.0


def play(session: library.Session, folder: Path, count: int, workers: int, minutes: float) -> None:
    """Play the first `count` mutants in order, until the time is over.

    Then a control: a test that killed and fails on the unchanged tree too has killed nothing. Its
    mutants are played again without it.
    """
    until_s = time.monotonic() + 60 * minutes
    known, measured = session.results, reach.read(folder)
    wanted = [number for number in session.mutants if number < count and number not in known]
    with trees(workers) as free:
        while True:
            for number, result, patch in results(session, wanted, measured, free, until_s):
                session.keep(number, result, patch)
                print(line(number, session.mutants[number], result), flush=True)
            killers = {n: r.said for n, r in session.results.items() if r.word == KILLED}
            failing = control(killers.values(), lambda tests: in_tree(free, tests))
            if not failing:
                return
            print(f"fail on the unchanged tree too: {', '.join(sorted(failing))}", flush=True)
            measured = measured.without(failing)
            wanted = [number for number, killer in killers.items() if killer in failing]
            until_s = math.inf


def results(
    session: library.Session,
    wanted: list[int],
    measured: reach.Reach,
    free: SimpleQueue[Path],
    until_s: float,
) -> Iterator[tuple[int, Result, str]]:
    """The numbers of the wanted mutants with their results and patches, in order."""
    mutants = session.mutants

    def one(number: int) -> tuple[int, Result, str] | None:
        if time.monotonic() > until_s:
            return None
        tree = free.get()
        try:
            return number, *outcome(tree, mutants[number], measured)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(free.qsize()) as pool:
        yield from filter(None, pool.map(one, wanted))


def in_tree(free: SimpleQueue[Path], tests: list[str]) -> Result:
    """How some tests end in an unchanged tree."""
    tree = free.get()
    try:
        return played(tree, tests, CONTROL_S)
    finally:
        free.put(tree)


@contextlib.contextmanager
def trees(workers: int) -> Iterator[SimpleQueue[Path]]:
    """A copy of the tree for each worker, with its modules compiled."""
    free: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        first = copied(Path(folder) / "0")
        if status := status_of(first, list(WARM), compiles=True):
            raise SystemExit(f"the tests do not pass on the unchanged tree: pytest says {status}")
        free.put(first)
        for worker in range(1, workers):
            free.put(Path(shutil.copytree(first, Path(folder) / str(worker))))
        yield free


def outcome(tree: Path, mutant: CodeMutant, measured: reach.Reach) -> tuple[Result, str]:
    """What the tests in reach say of a mutant, and its difference."""
    text = (ROOT / mutant.file).read_text()
    changed = library.mutated(text, mutant)
    if changed is None:
        return Result(NOT_RUN, "the file has changed since the draw"), ""
    tests = measured.tests(mutant.file, mutant.start[0], Places(text))
    with changed_file(tree / mutant.file, changed):
        result = judged(tree, stages(tests, mutant.room, measured.seconds), measured.seconds)
    return result, difference(text, changed, mutant.file)


def difference(text: str, changed: str, file: str) -> str:
    """What the mutant changes, as a patch."""
    lines = difflib.unified_diff(
        text.splitlines(), changed.splitlines(), f"a/{file}", f"b/{file}", lineterm=""
    )
    return "\n".join(lines)


def show(session: library.Session, number: int, tests: list[str]) -> int:
    """Print a mutant; with tests, say how they end with it."""
    mutant = session.mutants[number]
    text = (ROOT / mutant.file).read_text()
    changed = library.mutated(text, mutant) or ""
    print(difference(text, changed, mutant.file))
    if tests:
        with tempfile.TemporaryDirectory() as folder:
            tree = copied(Path(folder))
            with changed_file(tree / mutant.file, changed):
                print(line(number, mutant, played(tree, tests, CONTROL_S)))
    return 0


def line(number: int, mutant: CodeMutant, result: Result) -> str:
    """A mutant and its result in a line."""
    where = f"{mutant.file}:{mutant.start[0]}"
    return f"{number:4}  {result.word:9}  {where}  {mutant.name}  {result.said}"
