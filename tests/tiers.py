"""Which tests are of which tier because of their cost alone: `python -m tests.tiers`.

The fast tier is for the minutes between two changes. A test that takes long and needs no real
component stands in `tiers.tsv` by its name. So its file says nothing of the speed of a machine.
The command reads the results of a fast tier, `--junitxml`, and adds what took more than 2 s in it.

A test that compares measured time is `timed`, and of no tier: a busy machine fails it without a
fault of the product. `make test-timed` runs these tests one after another, a part of the night.

`night_shares.tsv` gives a number for a test: of 4, the slow tier plays one case of four, and of 0
none. The rest is for the night.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

TABLE = Path(__file__).with_suffix(".tsv")
SHARES = TABLE.with_name("night_shares.tsv")
LONG_S = 2.0
"""Beside two other workers on two processors; a worker that is the first to import an SDK takes
longer, and a test that is in the table for that costs nothing but its place."""


@cache
def long_tests() -> frozenset[str]:
    """The names of the tests that are slow by their cost, as pytest says them."""
    return frozenset(TABLE.read_text(encoding="utf-8").splitlines())


@cache
def night_shares() -> dict[str, int]:
    """By test: of a number n, one case of n is played by day; of 0, none."""
    rows = (row.split("\t") for row in SHARES.read_text(encoding="utf-8").splitlines())
    return {name: int(share) for name, share in rows}


def mark(items: Sequence[pytest.Item]) -> None:
    """Give each test its tier by the tables."""
    cases = Counter[str]()
    for item in items:
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.nightly)
        if item.nodeid in long_tests():
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.long)  # for `make fuzz`, which leaves out real components
        name = item.nodeid.partition("[")[0]
        share = night_shares().get(name)
        if share is None or not item.get_closest_marker("real"):
            continue
        if not share or cases[name] % share:
            item.add_marker(pytest.mark.nightly)
        cases[name] += 1


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
