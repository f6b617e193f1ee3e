"""All that is measured, in one table: `make bench`, or `python -m bench [--rounds N]`.

The exit status is 1 when a figure is over its bound. Ratios are taken within one run, so a busy
machine makes them noisier, not larger; more rounds make them steadier.
"""

from __future__ import annotations

import argparse
import sys

from bench import (
    campaigns,
    cassettes,
    doors,
    faults,
    judging,
    memory,
    recordings,
    scenarios,
    servers,
    strategies,
)


def main() -> int:
    """Print every figure as it is measured; 1 when one is over its bound."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often to measure (default 3)")
    rounds = parser.parse_args().rounds
    over = 0
    for module in (
        scenarios,
        judging,
        recordings,
        doors,
        servers,
        faults,
        memory,
        strategies,
        campaigns,
    ):
        for figure in module.figures(rounds):
            print(figure, flush=True)
            over += figure.is_over
    return int(bool(cassettes.main()) or over > 0)


if __name__ == "__main__":
    sys.exit(main())
