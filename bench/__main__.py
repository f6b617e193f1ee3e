"""All that is measured, in one table: `make bench`, or `python -m bench [--rounds N] [--write]`.

The exit status is 1 when a figure is over its bound. Ratios are taken within one run, so a busy
machine makes them noisier, not larger; more rounds make them steadier. `--write` makes
docs/bench.md and its picture of this run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import (
    campaigns,
    cassettes,
    commits,
    curves,
    faults,
    memory,
    peers,
    recordings,
    scenarios,
    strategies,
)
from bench.figure import Figure
from bench.page import page
from bench.plot import draw

DOCS = Path(__file__).parents[1] / "docs"


def main() -> int:
    """Print every figure as it is measured; 1 when one is over its bound."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often to measure (default 3)")
    parser.add_argument("--write", action="store_true", help="make docs/bench.md of this run")
    asked = parser.parse_args()
    table = peers.measured()
    grown = [*curves.measured()]
    figures = [*_printed(_figures(asked.rounds, table, grown))]
    if asked.write:
        (DOCS / "bench.md").write_text(page(table, grown, figures))
        draw(table, grown, DOCS / "pictures/bench.svg")
    return int(any(figure.is_over for figure in figures))


def _figures(rounds: int, table: peers.Table, grown: Sequence[curves.Curve]) -> Iterator[Figure]:
    yield from peers.figures(table)
    yield from commits.beside_the_last()
    yield from curves.figures(grown)
    for module in (recordings, scenarios, faults, memory, strategies, campaigns, cassettes):
        yield from module.figures(rounds)


def _printed(figures: Iterator[Figure]) -> Iterator[Figure]:
    for figure in figures:
        print(figure, flush=True)
        yield figure


if __name__ == "__main__":
    sys.exit(main())
