"""What a model call costs by our doors and by each peer, in rounds of one run.

Each round visits every backend in a new order, so a slow phase of the machine falls on all of
them. A ratio is the median over the rounds. The law: in each cell (in process or over loopback,
plain or streamed) ours is ahead of every peer.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.backends import BACKENDS, FLOOR, LOOPBACK, Backend, Round
from bench.figure import Figure
from bench.interval import Interval, interval
from bench.model_calls import conversation

ROUNDS, CALLS = 21, 20
MODES = ("plain", "streamed")


class Row(NamedTuple):
    """A backend in one mode: the seconds of a call in each round."""

    backend: Backend
    mode: str
    seconds: Sequence[float]


class Table(msgspec.Struct, frozen=True):
    """All rows, and the peers that could not be measured, with the reason."""

    rows: tuple[Row, ...]
    skipped: dict[str, str]

    def ratio(self, row: Row) -> Interval:
        """The time of a row as a ratio of the bare transport's."""
        floor = next(r for r in self.rows if r.backend is FLOOR and r.mode == row.mode)
        return interval(ours / bare for ours, bare in zip(row.seconds, floor.seconds, strict=True))

    def cell(self, ours: Row) -> Iterator[Row]:
        """The peers of a row of ours."""
        for row in self.rows:
            is_peer = not row.backend.is_ours and row.backend is not FLOOR
            if is_peer and row.mode == ours.mode and row.backend.place == ours.backend.place:
                yield row


def measured(rounds: int = ROUNDS, calls: int = CALLS) -> Table:
    """Every backend in both modes."""
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    for mode in MODES:
        with ExitStack() as opened, tempfile.TemporaryDirectory() as folder:
            ready = dict(_ready(mode, Path(folder), opened, skipped))
            spent: dict[Backend, list[float]] = {backend: [] for backend in ready}
            order = random.Random(0)
            for _ in range(rounds):
                for backend in order.sample([*ready], len(ready)):
                    spent[backend].append(round_s(ready[backend], calls))
        rows += [Row(backend, mode, seconds) for backend, seconds in spent.items()]
    return Table(tuple(rows), skipped)


def _ready(
    mode: str, folder: Path, opened: ExitStack, skipped: dict[str, str]
) -> Iterator[tuple[Backend, Round]]:
    for number, backend in enumerate(BACKENDS):
        own = folder / str(number)
        own.mkdir()
        try:
            once = opened.enter_context(backend.opened(mode == "streamed", own))
            round_s(once, 3)
        except (ImportError, OSError) as error:
            skipped[backend.name] = str(error)
        else:
            yield backend, once


def round_s(once: Round, calls: int) -> float:
    """The seconds of a call; entering the round's patch is not counted."""
    gc.collect()
    with once() as call:
        began_s = time.perf_counter()
        for number in range(calls):
            call(conversation(1, number))
        return (time.perf_counter() - began_s) / calls


def figures(table: Table) -> Iterator[Figure]:
    """Ours as a ratio of each peer in the same cell."""
    for ours in (row for row in table.rows if row.backend.is_ours):
        place = ("in process", "loopback")[ours.backend.place == LOOPBACK]
        for peer in table.cell(ours):
            ratios = [a / b for a, b in zip(ours.seconds, peer.seconds, strict=True)]
            name = f"{place}, {ours.mode}, of {peer.backend.name}"
            beside = f"of {statistics.median(peer.seconds) * 1e6:6.0f} us"
            yield Figure(name, interval(ratios).median, 1.0, beside=beside)


def main() -> int:
    """Print the table and the law; 1 when a peer is ahead."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    table = measured(parser.parse_args().rounds)
    over = 0
    for row in table.rows:
        median_ms = statistics.median(row.seconds) * 1e3
        print(f"{row.backend.name:36} {row.mode:9} {median_ms:7.2f} ms  {table.ratio(row)}")
    for name, why in table.skipped.items():
        print(f"{name}: not measured: {why}")
    for figure in figures(table):
        print(figure, flush=True)
        over += figure.is_over
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())
