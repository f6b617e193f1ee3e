"""`python -m tests.fuzz.readers`: many mutated files, and what no reader may do with one.

A traceback, more than 5 s of processor time for a file, or more than 200 MB is a failure. The log
has a line for each failure, with the file that repeats it, and the figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.campaign_limits import Limits
from tests.fuzz.readers.campaign import campaign


def main() -> int:
    """Run, and print the figures; 1 for a failure."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--count", type=int, default=1_000_000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--minutes", type=float, default=float("inf"))
    words.add_argument("--only", default="", help="one reader")
    words.add_argument("--out", type=Path, default=Path(".harness/fuzz-readers"))
    asked = words.parse_args()
    limits = Limits(asked.count, asked.minutes * 60)
    asked.out.mkdir(parents=True, exist_ok=True)
    with (asked.out / "log.txt").open("w") as log:

        def say(text: str) -> None:
            print(text, flush=True)
            print(text, file=log, flush=True)

        return 1 if campaign(asked.seed, limits, asked.out, say, asked.only) else 0


if __name__ == "__main__":
    sys.exit(main())
