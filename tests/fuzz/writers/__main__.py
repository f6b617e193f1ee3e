"""`python -m tests.fuzz.writers`: many hostile texts and values, and what no writer may do.

A traceback, an output that is not valid, a lost row, a secret, or more than 20 s of processor time
is a failure. The log has a line for each failure, with the text that was said, and the figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.campaign_limits import Limits
from tests.fuzz.writers.campaign import campaign
from tests.fuzz.writers.growth import growth


def main() -> int:
    """Run, and print the figures; 1 for a failure."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--count", type=int, default=300_000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--minutes", type=float, default=float("inf"))
    words.add_argument("--out", type=Path, default=Path(".harness/fuzz-writers"))
    asked = words.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    out = asked.out.resolve()
    with (out / "log.txt").open("w") as log:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=log, flush=True)

        failures = campaign(asked.seed, Limits(asked.count, asked.minutes * 60), out, say)
        return 1 if failures + growth(say) else 0


if __name__ == "__main__":
    sys.exit(main())
