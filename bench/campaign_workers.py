"""How many times the examples of one worker two of them do, on a machine that others use as well.

`python -m bench.campaign_workers [--chunks N] [--rounds N]`. Wall-clock time depends on the
machine's other load. Two figures of an engine are measured instead. The processor time of a chunk
grows when workers disturb each other. The share of its life that a worker works falls when it
waits for its next lease. Two workers are twice as fast as one if their chunks cost the same and
they never wait. One and two workers run in alternate rounds, and the cheapest round of each chunk
counts. The imports of a worker are paid once per campaign, so they are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence

import msgspec

from harness.engines.local import Local
from harness.fuzz import batch
from harness.fuzz.batch import Batch
from harness.fuzz.corpus import GENERATION

LEAST = 1.8
TARGET = "reference?client=plain"


class Worked(msgspec.Struct, frozen=True):
    """One chunk: who did it, when (on the clock of the machine), and its processor time."""

    chunk: int
    worker: int
    began_s: float
    ended_s: float
    cpu_s: float


def work(chunk: Batch) -> Worked:
    """Play a chunk twice, and take the processor time of the second: the first may import."""
    began_s = time.monotonic()
    batch.work(chunk)
    cpu_s = time.process_time()
    batch.work(chunk)
    spent_s = time.process_time() - cpu_s
    return Worked(chunk.number, os.getpid(), began_s, time.monotonic(), spent_s)


def played(workers: int, count: int) -> list[list[Worked]]:
    """`count` chunks, the same ones each time, by worker, without the first of each."""
    size = batch.SIZE
    left = (
        Batch(number=n, first=1 + n * size, count=size, seed=1, target=TARGET) for n in range(count)
    )
    done: dict[int, list[Worked]] = {}
    engine = Local(workers)
    for one in engine.each(work, lambda: next(left, None), window=GENERATION, lost=_lost):
        done.setdefault(one.worker, []).append(one)
    return [sorted(mine, key=lambda one: one.began_s)[1:] for mine in done.values()]


def _lost(chunk: Batch) -> Worked:
    raise RuntimeError(f"chunk {chunk.number} ends its workers")


def share(mine: Sequence[Worked]) -> float:
    """The share of its life that a worker is at work."""
    return sum(one.ended_s - one.began_s for one in mine) / (mine[-1].ended_s - mine[0].began_s)


def cheapest(rounds: Iterable[list[list[Worked]]]) -> dict[int, float]:
    """The processor seconds of each chunk in its cheapest round."""
    least: dict[int, float] = {}
    for one in (one for done in rounds for mine in done for one in mine):
        least[one.chunk] = min(one.cpu_s, least.get(one.chunk, one.cpu_s))
    return least


def main() -> int:
    """Print the figure; 1 when it is too low."""
    parser = argparse.ArgumentParser(prog="python -m bench.campaign_workers", description=__doc__)
    parser.add_argument("--chunks", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    measured = [(played(1, asked.chunks), played(2, asked.chunks)) for _ in range(asked.rounds)]
    one, two = cheapest(done for done, _ in measured), cheapest(done for _, done in measured)
    both = one.keys() & two.keys()
    dearer = sum(two[n] for n in both) / sum(one[n] for n in both)
    at_work = min(share(mine) for _, done in measured for mine in done if mine)
    times = 2 * at_work / dearer
    said = f"at work {at_work:.1%} of the time, {dearer:.2f} times the processor time of a chunk"
    print(f"two workers: {times:.2f} times the examples of one (at least {LEAST}): {said}")
    return int(times < LEAST)


if __name__ == "__main__":
    sys.exit(main())
