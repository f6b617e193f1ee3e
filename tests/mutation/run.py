"""Plays the mutants of a session that have no result, and checks what killed them."""

from __future__ import annotations

import contextlib
import difflib
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
from tests.mutation.table import NOT_RUN, Result
from tests.seeds.audit import copied, status_of

ROOT = reach.ROOT
WARM = ("tests/core", "tests/faults/test_fault.py", "tests/checks/test_progress.py")
CONTROL_S = 1200.0


def play(session: library.Session, folder: Path, count: int, workers: int, minutes: float) -> None:
    """Play the first `count` mutants in order, until the time is over; then the control."""
    until_s = time.monotonic() + 60 * minutes
    mutants, known, measured = session.mutants, session.results, reach.read(folder)
    wanted = [number for number in mutants if number < count and number not in known]
    with trees(workers) as free, ThreadPoolExecutor(workers) as pool:

        def one(number: int) -> tuple[int, Result, str] | None:
            if time.monotonic() > until_s:
                return None
            tree = free.get()
            try:
                return number, *outcome(tree, mutants[number], measured)
            finally:
                free.put(tree)

        for found in pool.map(one, wanted):
            if found:
                session.keep(*found)
                print(line(found[0], mutants[found[0]], found[1]), flush=True)
        tree = free.get()
        for number, result in control(session.results, lambda ts: played(tree, ts, CONTROL_S)):
            session.keep(number, result, session.patches[number])


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
