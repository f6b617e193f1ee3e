"""How time and memory grow: sessions, recordings and folders of 10, 100, 1,000 and 10,000 parts.

Each point is measured in its own process, so that no point finds what another one left. The
exponent is the slope of the fitted line through the logarithms: 1 is linear, 2 would be quadratic.
"""

from __future__ import annotations

import contextlib
import gc
import io
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench import recordings
from bench.figure import Figure
from bench.long_sessions import session
from bench.memory import peak_bytes
from harness.checks.judge import judge

SIZES = (10, 100, 1_000, 10_000)
MOST = 1.15
"""The exponent that counts as linear: a sort or a deeper tree may show in it."""
ROUNDS_EACH = 5


class Point(NamedTuple):
    """Seconds and megabytes for a size; the megabytes are the peak beyond what was there before."""

    size: int
    seconds: float
    peak_mb: float


class Curve(NamedTuple):
    """The points of one kind of work."""

    name: str
    points: Sequence[Point]

    @property
    def exponent(self) -> float:
        """The slope of seconds over size, both as logarithms."""
        x = [math.log(point.size) for point in self.points]
        y = [math.log(point.seconds) for point in self.points]
        middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
        above = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
        return above / sum((a - middle_x) ** 2 for a in x)


def _play(size: int) -> Callable[[], object]:
    return lambda: session(size)


def _judge(size: int) -> Callable[[], object]:
    history = session(size)
    return lambda: judge(history)


def _recording(size: int) -> Callable[[], object]:
    data = recordings.recording(size)
    return lambda: recordings.judged(data)


def _folder(size: int) -> Callable[[], object]:
    from harness.cli import main

    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    data = recordings.recording(ROUNDS_EACH)
    for number in range(size):
        (folder / f"{number}.jsonl").write_bytes(data)

    def work() -> None:
        silent = contextlib.redirect_stdout(io.StringIO())
        with silent, contextlib.suppress(SystemExit):
            main(["judge", str(folder), "-j", "1"])

    return work


WORK: dict[str, Callable[[int], Callable[[], object]]] = {
    "playing a session, turns": _play,
    "judging a session, turns": _judge,
    "judging a recording of JSON Lines, turns": _recording,
    "judging a folder, recordings": _folder,
}


def measured(rounds: int = 1) -> Iterator[Curve]:
    """Every curve; a point is the quickest of a given number of processes."""
    for name in WORK:
        points = [min(_point(name, size) for _ in range(rounds)) for size in SIZES]
        yield Curve(name, points)


def _point(name: str, size: int) -> Point:
    command = [sys.executable, "-m", "bench.curves", name, str(size)]
    done = subprocess.run(command, capture_output=True, check=True, cwd=Path(__file__).parents[1])
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Point)


def _measure(name: str, size: int) -> Point:
    WORK[name](1)()
    work = WORK[name](size)
    gc.collect()
    before_mb, began_s = _peak_mb(), _spent_s()
    work()
    return Point(size, _spent_s() - began_s, _peak_mb() - before_mb)


def _spent_s() -> float:
    """The processor seconds of this process and of the workers that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mb() -> float:
    """The peak of this process and that of its workers."""
    kilo = 1 if sys.platform == "darwin" else 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * kilo
    return (peak_bytes() + workers) / 1e6


def figures(curves: Sequence[Curve]) -> Iterator[Figure]:
    """The exponent of each curve."""
    for curve in curves:
        last = curve.points[-1]
        beside = f"{last.seconds:.1f} s, {last.peak_mb:.0f} MB at {last.size:,}"
        yield Figure(f"{curve.name}: exponent", curve.exponent, MOST, beside=beside)


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(_measure(sys.argv[1], int(sys.argv[2]))).decode())
