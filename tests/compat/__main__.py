"""`python -m tests.compat [NAME ...]`: play all rows, or those that are named.

Each row is a line as it ends; the table comes last. With `--write` the results are kept and become
the page. Exit status 1 means that a row failed. A row whose Python is not on this machine is told,
and keeps its last result, or the reason why there is none. `--plays SET` plays less than the row
says: `client` is what each push plays, and `make compat` the rest.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from tests.compat.environments import data, install
from tests.compat.playing import play
from tests.compat.results import PAGE, Result, page, read, table, with_result, write


def main() -> int:
    """Play, print the table, and write the page."""
    asked = _arguments()
    passed, results = [], {}
    for name in asked.names or data().rows:
        try:
            install(name)
            if not asked.install:
                results[name] = _played(name, asked.plays, asked.write)
                passed.append(results[name].is_good)
        except FileNotFoundError as error:
            print(f"{name:16} not played: {error}", file=sys.stderr, flush=True)
            if asked.write:
                _keep(Result(name, reason=str(error)))
        except subprocess.CalledProcessError as error:
            print(f"{name:16} not installed: {error}", file=sys.stderr, flush=True)
            passed.append(False)
    if not asked.install:
        print("\n".join(["", *table({**read(), **results})]))
    return int(not all(passed))


def _played(name: str, plays: str | None, is_kept: bool) -> Result:
    found = play(name, plays)
    print(found.line, flush=True)
    if is_kept:
        _keep(found)
    return found


def _keep(found: Result) -> None:
    results = with_result(read(), found)
    write(results)
    PAGE.write_text(page(results), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.compat", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*data().rows, []], metavar="NAME")
    parser.add_argument("--install", action="store_true", help="install, and play nothing")
    parser.add_argument("--plays", choices=data().sets, metavar="SET", help="play this set")
    parser.add_argument("--write", action="store_true", help="keep the results, write the page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
