"""A model call of this tree beside that of another commit: `python -m bench.commits [COMMIT]`.

Each commit runs in its own process from a copy of its tree, with this tree's measures. Both are
asked in turn. A cell is slower only where the whole 95 % interval of the paired ratios lies above
one. With four cells one in ten runs says so by chance: measure that cell again.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from bench.figure import Figure
from bench.interval import Interval, interval

ROOT = Path(__file__).parents[1]
CELLS = ("process/plain", "process/streamed", "loopback/plain", "loopback/streamed")
ROUNDS, CALLS, WARM = 31, 30, 10
BEFORE = "HEAD~1"


@contextmanager
def _worker(tree: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bench.commit_worker"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tree, stdin=pipe, stdout=pipe, text=True) as worker:
        yield worker
        worker.communicate()


def _asked(worker: subprocess.Popen[str], cell: str, calls: int) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{cell} {calls}\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        raise ChildProcessError("the measures do not run on that commit: its modules differ")
    return float(answer)


def _laid_out(commit: str, folder: Path) -> None:
    """The tree of a commit with the measures of this one."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tree:
        tree.extractall(folder, filter="data")
    shutil.rmtree(folder / "bench", ignore_errors=True)
    shutil.copytree(ROOT / "bench", folder / "bench")


def measured(commit: str = BEFORE, rounds: int = ROUNDS) -> dict[str, Interval]:
    """The time of a call as a ratio of the commit's, by cell."""
    lots = Random(0)
    with tempfile.TemporaryDirectory() as folder:
        _laid_out(commit, Path(folder))
        with _worker(Path(folder)) as before, _worker(ROOT) as now:
            return {cell: _ratios(before, now, cell, rounds, lots) for cell in CELLS}


def _ratios(
    before: subprocess.Popen[str], now: subprocess.Popen[str], cell: str, rounds: int, lots: Random
) -> Interval:
    for worker in (before, now):
        _asked(worker, cell, WARM)
    ratios = []
    for _ in range(rounds):
        pair = {}
        for worker in lots.sample([before, now], 2):
            pair[worker] = _asked(worker, cell, CALLS)
        ratios.append(pair[now] / pair[before])
    return interval(ratios)


def beside_the_last() -> Iterator[Figure]:
    """The figures beside the commit before; none, with the reason on the screen, where this tree's
    measures do not run on it: a measure may use what that commit lacks."""
    try:
        yield from figures(measured())
    except ChildProcessError as error:
        print(f"the commit before is not measured: {error}", flush=True)


def figures(ratios: dict[str, Interval]) -> Iterator[Figure]:
    """The lower bound of each ratio: above one, this tree is slower beyond doubt."""
    for cell, ratio in ratios.items():
        name = f"{cell.replace('/', ', ')}, of the commit before"
        yield Figure(name, ratio.low, 1.0, beside=f"median {ratio}")


def main() -> int:
    """Print the ratios; 1 when this tree is slower."""
    parser = argparse.ArgumentParser(prog="python -m bench.commits", description=__doc__)
    parser.add_argument("commit", nargs="?", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    over = 0
    for figure in figures(measured(asked.commit, asked.rounds)):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
