"""What the rows gave, kept in `results.tsv` a line each, and the page that is made of it.

A row that could not be played here keeps the result of the last time, or the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from tests.compat.environments import HERE, ROOT, Row, data

SHOWN = ("anthropic", "openai", "pytest")
"""The packages whose versions the table names."""

KEPT = HERE / "results.tsv"
PAGE = ROOT / "docs" / "compatibility.md"


class Result(msgspec.Struct, frozen=True):
    """The versions of a row, and how its tests and its runs of the reference agent ended.

    A row that could not be played has a reason, and nothing else.
    """

    name: str
    python: str = ""
    anthropic: str = ""
    openai: str = ""
    pytest: str = ""
    tests_passed: int = 0
    tests_failed: int = 0
    runs_passed: int = 0
    runs_failed: int = 0
    runs_left: int = 0
    reason: str = ""

    @property
    def is_played(self) -> bool:
        """Whether the row ran at all."""
        return not self.reason

    @property
    def is_good(self) -> bool:
        """Whether the row was played, and everything passed."""
        return self.is_played and not (self.tests_failed or self.runs_failed)

    @property
    def line(self) -> str:
        """The result in a line, for a terminal."""
        ended = f"{self.tests_passed} tests and {self.runs_passed} runs pass"
        failed = f", {self.tests_failed} tests and {self.runs_failed} runs fail"
        return f"{self.name:16} {ended}{'' if self.is_good else failed}"


FIELDS = Result.__struct_fields__


def read(kept: Path = KEPT) -> dict[str, Result]:
    """What is kept, by the name of the row."""
    if not kept.exists():
        return {}
    head, *lines = (line.split("\t") for line in kept.read_text("utf-8").splitlines())
    rows = (dict(zip(head, line, strict=True)) for line in lines)
    return {r["name"]: msgspec.convert(r, type=Result, strict=False) for r in rows}


def with_result(kept: Mapping[str, Result], found: Result) -> dict[str, Result]:
    """The kept results and a new one; a row that was not played keeps what was seen before."""
    seen = kept.get(found.name)
    return {**kept, found.name: seen if seen and seen.is_played and not found.is_played else found}


def write(results: Mapping[str, Result], kept: Path = KEPT) -> None:
    """Keep the results in the order of the rows; a row that is gone goes."""
    lines = ["\t".join(FIELDS)]
    for name in filter(results.__contains__, data().rows):
        lines.append("\t".join(str(value) for value in msgspec.structs.astuple(results[name])))
    kept.write_text("\n".join(lines) + "\n", encoding="utf-8")


def page(results: Mapping[str, Result]) -> str:
    """`docs/compatibility.md`."""
    return _OPENING + "\n".join(table(results)) + "\n" + _CLOSING


def table(results: Mapping[str, Result]) -> Iterable[str]:
    """The rows as a table of Markdown."""
    yield "| row | Python | anthropic | openai | pytest | tests | runs of the reference agent | |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, row in data().rows.items():
        found = results.get(name, Result(name, reason="no run of this row is kept"))
        yield f"| {name} | {_cells(found) if found.is_played else _unplayed(row, found.reason)} |"


def _unplayed(row: Row, reason: str) -> str:
    versions = " | ".join(row.packages.get(package, "") for package in SHOWN)
    return f"{row.python} | {versions} | | | not played: {reason}"


def _cells(found: Result) -> str:
    versions = f"{found.python} | {found.anthropic} | {found.openai} | {found.pytest}"
    tests = f"{found.tests_passed} pass" + f", {found.tests_failed} fail" * bool(found.tests_failed)
    runs = f"{found.runs_passed} pass" + f", {found.runs_failed} fail" * bool(found.runs_failed)
    return f"{versions} | {tests} | {runs} | {'works' if found.is_good else '**fails**'}"


_OPENING = """# What it works with

`make compat` installs each row into its own environment, plays it, and writes this page. A row of
Python takes the versions of `constraints.txt`. A row of a package takes the newest version of that
generation.

"""

_CLOSING = """
A row of Python plays the clocks, the transports and the pytest plugin. A row of a package plays the
tests that touch it. Then the reference agent plays a part of the catalogue on the wires concerned.
`tests/compat/rows.toml` holds the rows and what they play.

A row needs its Python on the path or in pyenv. Without one it keeps its last result, or the reason
why there is none. `make compat ARGS=python-3.14` plays one row.
"""
