"""`python -m tests.strangers [NAME ...]`: install agents of other frameworks and play scenarios.

Printed are a row for each framework, its failing runs in groups by the codes of their causes, and
a draw of failing runs with the path of each history, to be judged by hand. The lines of the runs
stay in `.strangers/NAME.jsonl`; with `--kept` the report is made of them. Exit status 1 means that
a framework could not be installed or played.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.strangers.environments import ENVIRONMENTS, HERE, ROOT, Framework, frameworks, installed
from tests.strangers.groups import HEAD, Run, draw, groups, is_unplayed, row

TIMEOUT_S = 3600


def main() -> int:
    """Play all frameworks, or those that are named."""
    arguments = _arguments()
    chosen = {n: f for n, f in frameworks().items() if n in (arguments.names or frameworks())}
    played: dict[str, list[Run]] = {}
    failed = False
    for name, framework in chosen.items():
        try:
            if not arguments.kept:
                _play(name, framework, installed(name, framework))
            played[name] = _kept(name)
            if is_unplayed(played[name]):
                print(f"{name}: no run was applicable", file=sys.stderr)
                failed = True
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name}: not played: {error}", file=sys.stderr)
    _report(played, arguments.count, arguments.seed)
    return int(failed or len(played) < len(chosen))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.strangers", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*frameworks(), []], metavar="NAME")
    parser.add_argument("--kept", action="store_true", help="report on the last runs; play nothing")
    parser.add_argument("--count", type=int, default=50, help="failing runs to draw (default 50)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    return parser.parse_args()


def _play(name: str, framework: Framework, python: Path) -> None:
    """Run the harness with the adapter and the profile of a framework, and keep its lines."""
    command = [python, "-W", "ignore", "-m", "harness", "run", *framework.plays, "--json"]
    command += ["--profile", HERE / "frameworks" / f"{name}.toml"]
    command += ["--out", ENVIRONMENTS / "runs" / name]
    lines = ENVIRONMENTS / f"{name}.jsonl"
    log_path = ENVIRONMENTS / f"{name}.log"
    with log_path.open("w", encoding="utf-8") as log, lines.open("wb") as kept:
        made = subprocess.run(
            [*map(str, command)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=kept,
            stderr=log,
            timeout=TIMEOUT_S,
        )
    if made.returncode == 2:
        raise OSError(f"the command failed: see {log_path}")


def _kept(name: str) -> list[Run]:
    """The lines of the last run."""
    text = (ENVIRONMENTS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [msgspec.json.decode(line) for line in text.splitlines()]


def _report(played: dict[str, list[Run]], count: int, seed: int) -> None:
    print(HEAD)
    for name, lines in played.items():
        print(row(name, lines))
    for name, lines in played.items():
        print(f"\n## {name}\n")
        for codes, runs in groups(lines):
            print(f"{len(runs):4}  {', '.join(codes)}")
            print(f"      {runs[0]['name']}: {runs[0]['findings'][0]['message'][:200]}")
    print(f"\n## {count} failing runs, drawn with seed {seed}\n")
    for run in draw([run for lines in played.values() for run in lines], count, seed):
        print(f"{run['history']}")
        for finding in run["findings"]:
            print(f"      {finding['code']} ({finding.get('class')}): {finding['message'][:200]}")


if __name__ == "__main__":
    sys.exit(main())
