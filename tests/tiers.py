"""Which tests are of which tier because of their cost alone: `python -m tests.tiers FAST SLOW`.

The fast tier is for the minutes between two changes: five, on two processors. A test that takes
long and needs no real component stands in `tiers.tsv` by its name, or by that of one of its cases.
So its file says nothing of the speed of a machine.

A test that compares measured time is `timed`, and of no tier: a busy machine fails it without a
fault of the product. `make test-timed` runs these tests one after another, a part of the night.

`night_shares.tsv` gives a number for a test: of 4, one case of four is played by day, and of 0
none. The rest is for the night.

The command reads the results of both tiers, `--junitxml`, and adds what cost more than its bound.
A row that stands is left as it is: what is worth more than it costs has a row by hand.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

import pytest

TABLE = Path(__file__).with_suffix(".tsv")
SHARES = TABLE.with_name("night_shares.tsv")
LONG_S = 0.4
"""Of a case of a test, on average; beside two other workers on two processors."""
LONG_CASE_S = 2.0
"""Of one case of a test that is not long. A worker that is the first to import an SDK takes longer,
and a case that is in the table for that costs nothing but its place."""
DAY_S = 10.0
"""Of all cases of a test by day. The slow tier has 2,000 tests and a quarter of an hour."""


@cache
def long_tests() -> frozenset[str]:
    """The names of the tests, and of the cases, that are slow by their cost."""
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
        name = _test(item.nodeid)
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.nightly)
        if not long_tests().isdisjoint((item.nodeid, name)):
            _make_long(item)
        if (share := night_shares().get(name)) is not None:
            if not share or cases[name] % share:
                item.add_marker(pytest.mark.nightly)
                _make_long(item)
            cases[name] += 1


def _make_long(item: pytest.Item) -> None:
    if not item.get_closest_marker("real"):
        item.add_marker(pytest.mark.real)
        item.add_marker(pytest.mark.long)  # for `make fuzz`, which leaves out real components


def _test(case: str) -> str:
    return case.partition("[")[0]


Costs: TypeAlias = Mapping[str, Mapping[str, float]]
"""By test, then by case: seconds."""


def costs_in(results: Path) -> Costs:
    """What each case cost that a JUnit file has."""
    found = defaultdict[str, dict[str, float]](dict)
    for case in ElementTree.parse(results).iter("testcase"):
        if case.get("classname") and case.find("skipped") is None:
            name = _node(str(case.get("classname")), str(case.get("name")))
            found[_test(name)][name] = float(case.get("time", "0"))
    return found


def _node(owner: str, name: str) -> str:
    """The name of a case as pytest has it; JUnit writes a class of tests as one more module."""
    parts = owner.split(".")
    kinds = [part for part in parts if part[0].isupper()]
    return "::".join(["/".join(parts[: len(parts) - len(kinds)]) + ".py", *kinds, name])


def long_in(costs: Costs) -> set[str]:
    """The names of the tests that are long, and of the long cases of the others."""
    tests = {name for name, cases in costs.items() if _mean(cases) >= LONG_S}
    others = (cases for name, cases in costs.items() if name not in tests)
    return tests | {name for cases in others for name, s in cases.items() if s >= LONG_CASE_S}


def shares_in(costs: Costs) -> dict[str, int]:
    """The shares of the tests that cost more than a day has for them."""
    dear = {name: cases for name, cases in costs.items() if sum(cases.values()) > DAY_S}
    return {
        name: 0 if _mean(cases) > DAY_S else ceil(sum(cases.values()) / DAY_S)
        for name, cases in dear.items()
    }


def _mean(cases: Mapping[str, float]) -> float:
    return sum(cases.values()) / len(cases)


def main(fast: str, slow: str) -> None:
    """Write the tables again with what the results of the two tiers add."""
    by_tier = [costs_in(Path(file)) for file in (fast, slow)]
    long = long_in(by_tier[0]) | long_tests()
    _write(TABLE, {name for name in long if _test(name) == name or _test(name) not in long})
    shares = {name: share for costs in by_tier for name, share in shares_in(costs).items()}
    _write(SHARES, {f"{name}\t{share}" for name, share in (shares | night_shares()).items()})


def _write(table: Path, rows: set[str]) -> None:
    table.write_text("\n".join(sorted(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
