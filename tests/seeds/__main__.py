"""`python -m tests.seeds [TESTS]`: number, kind, test, result; 1 when one is missing or fails.

Arguments of pytest choose some of the tests. Then no statement is missing.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.seeds import KINDS, STATEMENTS


class Row(NamedTuple):
    """A test of a statement."""

    kind: str
    test: str
    result: str


class Table:
    """A pytest plugin that notes which tests hold which statements, and how they end."""

    def __init__(self) -> None:
        self.marks: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.results: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note the statements of each test."""
        for item in items:
            for mark in item.iter_markers("seed"):
                kind = mark.kwargs.get("kind", KINDS[0])
                assert kind in KINDS, f"{item.nodeid}: kind {kind!r} is not one of {KINDS}"
                self.marks[item.nodeid] += [(number, kind) for number in mark.args]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the worst that happened to a test."""
        if report.when == "call" or report.outcome != "passed":
            self.results[report.nodeid] = report.outcome

    def rows(self) -> dict[int, list[Row]]:
        """The tests by statement."""
        found: dict[int, list[Row]] = defaultdict(list)
        for test, marks in self.marks.items():
            for number, kind in marks:
                name = test.removeprefix("tests/seeds/")
                found[number].append(Row(kind, name, self.results.get(test, "not run")))
        return found


def main(arguments: list[str]) -> int:
    """Run the tests of the statements and print the table."""
    table = Table()
    folder = Path(__file__).parent
    pytest.main(["-q", "-p", "no:cacheprovider", str(folder), *arguments], plugins=[table])
    rows = table.rows()
    missing = [] if arguments else [n for n in range(1, STATEMENTS + 1) if n not in rows]
    failing = [n for n, tests in sorted(rows.items()) if any(r.result != "passed" for r in tests)]
    for number, tests in sorted(rows.items()):
        for row in tests:
            print(f"{number:4}  {row.kind:9} {row.result:8} {row.test}")
    print(f"{len(rows)} statements of {STATEMENTS}; missing {missing or 'none'}; ", end="")
    print(f"failing {failing or 'none'}")
    return 1 if missing or failing or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
