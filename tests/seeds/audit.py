"""`python -m tests.seeds.audit`: each statement's own tests fail when the product breaks it.

The change of a statement (`audit.tsv`) is made in a copy of the tree, and only the tests that carry
its number run. `NUMBER ...` names statements, `--draw N --seed S` draws some. The exit status is 1
if a change survives, or if its text is not in its file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.seeds import STATEMENTS
from tests.seeds.__main__ import Table
from tests.seeds.changes import ROOT, UNCHANGED, Change, changes

COPIED = ("harness", "tests", "scenarios", "cassettes", "docs", "examples", "pyproject.toml")
PRELOADED = ["pytest", "hypothesis", "anthropic", "openai", "msgspec", "httpx2", "yaml"]
TEST_TIMEOUT_S = 60
KILLED, SURVIVED = "killed", "survived"
_WORDS: dict[int | None, str] = {0: SURVIVED, 1: KILLED}


def main(arguments: Sequence[str]) -> int:
    """Audit, print a line for each statement, and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeds.audit", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
    parser.add_argument("--draw", type=int, metavar="N", help="draw N of the statements")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args(arguments)
    numbers = options.numbers or list(range(1, STATEMENTS + 1))
    if options.draw:
        numbers = sorted(random.Random(options.seed).sample(numbers, options.draw))
    words = []
    for number, word in audited(numbers, options.workers):
        words.append(word)
        print(f"{number:4}  {word}", flush=True)
    counts = [f"{words.count(word)} {word}" for word in sorted(set(words))]
    print(f"{len(words)} statements: {', '.join(counts)}")
    return int(any(word != KILLED and not word.startswith("no change") for word in words))


def audited(numbers: Sequence[int], workers: int) -> Iterator[tuple[int, str]]:
    """Each statement, and what became of its change."""
    known, tests = changes(), own_tests()
    trees: SimpleQueue[Path] = SimpleQueue()

    def audit(number: int) -> str:
        if number not in known:
            return f"no change: {UNCHANGED.get(number, 'audit.tsv has no row')}"
        tree = trees.get()
        try:
            return outcome(tree, known[number], tests[number])
        finally:
            trees.put(tree)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        first = copied(Path(folder) / "0")
        chosen = sorted({test for number in numbers for test in tests[number]})
        if status := status_of(first, chosen, compiles=True):
            raise SystemExit(
                f"the tests do not pass on the unchanged tree: pytest ends with {status}"
            )
        trees.put(first)
        for worker in range(1, workers):
            trees.put(Path(shutil.copytree(first, Path(folder) / str(worker))))
        yield from zip(numbers, pool.map(audit, numbers), strict=True)


def own_tests() -> dict[int, list[str]]:
    """The tests of each statement."""
    table = Table()
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", str(Path(__file__).parent)]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = pytest.main(options, plugins=[table])
    if status:
        raise SystemExit(said.getvalue())
    return {
        number: list(dict.fromkeys(f"tests/seeds/{row.test}" for row in rows))
        for number, rows in table.rows().items()
    }


def copied(tree: Path) -> Path:
    """A copy of what the tests need, with the times of the files, so that caches stay valid."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name)
        else:
            shutil.copy2(source, tree / name)
    return tree


def outcome(tree: Path, change: Sequence[Change], tests: Sequence[str]) -> str:
    """What the statement's tests say of the changed tree."""
    try:
        for part in change:
            (tree / part.file).write_text(part.place(tree))
        status = status_of(tree, tests, compiles=False)
    except ValueError as error:
        return str(error)
    finally:
        for part in change:
            shutil.copy2(ROOT / part.file, tree / part.file)
    return _WORDS.get(status, f"not judged: pytest ends with {status}")


def status_of(tree: Path, tests: Sequence[str], compiles: bool) -> int | None:
    """The status of pytest on these tests in a tree; None where it had to be ended.

    Only the first run of a tree `compiles` its modules for later ones: a changed module must not
    leave a compiled one behind. Each run is a fork of a process that has imported no more than
    `PRELOADED`, for that takes longer than the tests.
    """
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(PRELOADED)
    run = forks.Process(target=run_tests, args=(str(tree), list(tests), compiles))
    run.start()
    run.join(20 * TEST_TIMEOUT_S)
    run.kill()
    return run.exitcode


def run_tests(tree: str, tests: list[str], compiles: bool, plugins: Sequence[object] = ()) -> None:
    """Exit with the status of pytest on these tests, whose modules are those of the tree."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("harness", "tests")]:
        del sys.modules[name]
    sys.path.insert(0, tree)
    sys.dont_write_bytecode = not compiles
    os.environ |= {"PYTHONPATH": tree, "HYPOTHESIS_PROFILE": "ci"}
    os.chdir(tree)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--timeout", str(TEST_TIMEOUT_S)]
    sys.exit(int(pytest.main([*options, *tests], plugins=[*plugins])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
