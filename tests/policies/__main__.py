"""`python -m tests.policies`: drawn agents, each on a drawn share of the catalogue; the log.

`--from` and `--agents` name a slice of the agents. The exit status is 1 if there is a
finding, or if nothing was played.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.policies.log import Case, played, report


def main() -> int:
    """Play, and print what was found by code."""
    parser = argparse.ArgumentParser(prog="python -m tests.policies", description=__doc__)
    parser.add_argument("--agents", type=int, default=300)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--share", type=int, default=10, help="one of so many runs")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.agents)
    cases: list[Case] = []
    with ProcessPoolExecutor(options.workers, initializer=_quiet) as pool:
        for number, some in zip(
            numbers, pool.map(partial(played, share=options.share), numbers), strict=True
        ):
            cases += some
            found = [f"{case.run}: {code}" for case in some for code, _ in case.findings]
            line = f"agent {number}: {len(some)} runs, {len(found)} findings"
            print("\n  ".join([line, *found]), file=sys.stderr, flush=True)
    print("\n".join(report(cases)))
    return int(not cases or any(case.findings for case in cases))


def _quiet() -> None:
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")


if __name__ == "__main__":
    sys.exit(main())
