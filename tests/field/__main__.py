"""`python -m tests.field [NAME ...]`: install agents that people run, play them, and report.

The results of a target stay in `docs/field/results`; the report is made of all that are there.
With `--kept` nothing is played, with `--install` nothing but installed, and with `--headlines` the
table of the headlines is played and written. Exit status 1 means that a
target could not be installed or played.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.field import headlines, report
from tests.field.environments import install, played, targets
from tests.field.playing import play
from tests.field.results import read, write


def main() -> int:
    """Play all targets, or those that are named, and write the report."""
    arguments = _arguments()
    names = arguments.names or [*played()]
    if arguments.headlines:
        return int(not headlines.main(arguments.names))
    if arguments.install:
        return int(not all(_install_all(names)))
    done = [arguments.kept or _try(_install_and_play, name, arguments) for name in names]
    report.write(read())
    return int(not all(done))


def _install_all(names: list[str]) -> list[bool]:
    """Two at once, because an installation waits for the network and then for one processor."""
    alone = list(dict.fromkeys(targets()[name].shares or name for name in names))
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(partial(_try, install), alone))


def _try(step: Callable[..., None], name: str, *more: Any) -> bool:
    try:
        step(name, *more)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{name}: not played: {error}", file=sys.stderr)
        return False
    return True


def _install_and_play(name: str, arguments: argparse.Namespace) -> None:
    install(name)
    if name in played():
        _play(name, arguments)


def _play(name: str, arguments: argparse.Namespace) -> None:
    found = play(name, arguments.seed, arguments.sample, arguments.minutes)
    if not found.head.runs:
        raise OSError("no run was applicable")
    write(found)
    head = found.head
    print(f"{name}: {head.runs} runs, {head.passed} passed, {head.failed} failed", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.field", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*targets(), headlines.OURS, []], metavar="NAME"
    )
    parser.add_argument("--kept", action="store_true", help="report on what is kept; play nothing")
    parser.add_argument("--install", action="store_true", help="install, and play nothing")
    parser.add_argument(
        "--headlines", action="store_true", help="play the table of headlines alone"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the samples (default 1)")
    parser.add_argument("--sample", type=int, help="scenarios to draw, in place of the data file's")
    parser.add_argument(
        "--minutes", type=float, default=60, help="of a sample, each time (default 60)"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
