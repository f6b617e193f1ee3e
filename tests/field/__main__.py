"""`python -m tests.field [NAME ...]`: install agents that people run, play them, and report.

The results of a target stay in `docs/field/results`; the report is made of all that are there.
With `--kept` nothing is played, with `--install` nothing but installed. Exit status 1 means that a
target could not be installed or played.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from tests.field import report
from tests.field.environments import install, targets
from tests.field.playing import play
from tests.field.results import read, write


def main() -> int:
    """Play all targets, or those that are named, and write the report."""
    arguments = _arguments()
    failed = []
    for name in arguments.names or targets():
        try:
            if not arguments.kept:
                install(name)
            if not (arguments.kept or arguments.install):
                _play(name, arguments)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name}: not played: {error}", file=sys.stderr)
            failed.append(name)
    if not arguments.install:
        report.write(read())
    return int(bool(failed))


def _play(name: str, arguments: argparse.Namespace) -> None:
    found = play(name, arguments.seed, arguments.sample, arguments.minutes)
    if not found.head.runs:
        raise OSError("no run was applicable")
    write(found)
    head = found.head
    print(f"{name}: {head.runs} runs, {head.passed} passed, {head.failed} failed", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.field", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*targets(), []], metavar="NAME")
    parser.add_argument("--kept", action="store_true", help="report on what is kept; play nothing")
    parser.add_argument("--install", action="store_true", help="install, and play nothing")
    parser.add_argument("--seed", type=int, default=1, help="of the samples (default 1)")
    parser.add_argument("--sample", type=int, help="scenarios to draw, in place of the data file's")
    parser.add_argument(
        "--minutes", type=float, default=60, help="of a sample, each time (default 60)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
