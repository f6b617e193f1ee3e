"""Which single tests are of the slow tier because of their cost alone: `python -m tests.tiers`.

The fast tier is for the minutes between two changes. A test that takes long and needs no real
component stands in `tiers.tsv` by its name. So its file says nothing of the speed of a machine.
The command reads the results of a fast tier, `--junitxml`, and adds what took more than 2 s in it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

TABLE = Path(__file__).with_suffix(".tsv")
LONG_S = 2.0
"""Beside two other workers on two processors; a worker that is the first to import an SDK takes
longer, and a test that is in the table for that costs nothing but its place."""


@cache
def long_tests() -> frozenset[str]:
    """The names of the tests that are slow by their cost, as pytest says them."""
    return frozenset(TABLE.read_text(encoding="utf-8").splitlines())


def long_in(results: Path) -> Iterator[str]:
    """The names of the tests of a JUnit file that took long."""
    for case in ElementTree.parse(results).iter("testcase"):
        if float(case.get("time", "0")) >= LONG_S and case.find("skipped") is None:
            module = str(case.get("classname")).replace(".", "/")
            yield f"{module}.py::{case.get('name')}"


def main(files: list[str]) -> None:
    """Write the table again with what was long in the files."""
    found = {name for file in files for name in long_in(Path(file))}
    TABLE.write_text("\n".join(sorted(found | long_tests())) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
