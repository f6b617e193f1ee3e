"""`make wire-table`: measure all rows, and print the table or write it into `docs/`.

With `--older PYTHON ...` (as `make wire-table` makes them) the Anthropic rows are measured with the
SDK of each of these interpreters too, in its own process. `--json` prints one column, for that
process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.compat.environments import python_of
from tests.wire_table.measure import measured, package_of, versions
from tests.wire_table.rows import ROWS
from tests.wire_table.table import Column, name_of, table

ROOT = Path(__file__).parents[2]
OLDER = ("anthropic-1", "anthropic-0.125")
"""The rows of `make compat` whose SDK has a column too."""


def column(*packages: str) -> Column:
    """The rows of these SDKs, as the installed versions answer them."""
    rows = [row for row in ROWS if package_of(row) in packages]
    return Column(versions(), {name_of(row): measured(row) for row in rows})


def older(python: Path) -> Column:
    """The Anthropic rows as another interpreter's SDK answers them."""
    command = [python, "-W", "ignore", "-m", "tests.wire_table", "--json"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return msgspec.json.decode(answer.stdout, type=Column)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.wire_table")
    parser.add_argument(
        "--older", type=Path, nargs="*", default=[*map(python_of, OLDER)], metavar="PYTHON"
    )
    parser.add_argument("--out", type=Path, help="write the table there")
    parser.add_argument("--json", action="store_true", help="one column, the Anthropic rows")
    chosen = parser.parse_args()
    if chosen.json:
        sys.stdout.buffer.write(msgspec.json.encode(column("anthropic")))
        return 0
    text = table([column("anthropic", "openai")], [older(p) for p in chosen.older if p.exists()])
    if chosen.out:
        chosen.out.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
