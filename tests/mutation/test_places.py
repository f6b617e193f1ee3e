"""Places: which parts of a file can matter, and the lines that run them."""

from __future__ import annotations

import pytest

from tests.mutation.places import Places

TEXT = """\
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

LIMIT = 3


def total(*numbers: int | None, scale: int = 2) -> int | None:
    count = LIMIT | 1
    if (
        count
        and numbers
    ):
        return sum(*numbers)
    match count:
        case 1:
            return 2 * (scale
                        + 1)
    return None
"""


def at(text: str, nth: int = 0) -> tuple[int, int]:
    """The position of the n-th place of a text."""
    index = -1
    for _ in range(nth + 1):
        index = TEXT.index(text, index + 1)
    before = TEXT[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1)


@pytest.mark.parametrize(
    ("position", "computes"),
    [
        (at("| 1"), True),
        (at("* (scale"), True),
        (at("+ 1"), True),
        (at("| None"), False),
        (at("| None", 1), False),
        (at("*numbers"), False),
        (at("*numbers", 1), False),
    ],
)
def test_only_a_sign_that_computes_counts(position: tuple[int, int], computes: bool) -> None:
    places = Places(TEXT)
    assert (places.is_operator(position) and places.is_read(position)) is computes


@pytest.mark.parametrize(
    ("text", "read"), [("TYPE_CHECKING:", False), ("int | None", False), ("= 2", True)]
)
def test_annotations_and_imports_for_types_are_not_read(text: str, read: bool) -> None:
    assert Places(TEXT).is_read(at(text)) is read


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("LIMIT = 3", ["LIMIT = 3"]),
        ("and numbers", ["    if (", "        count", "        and numbers", "    ):"]),
        ("return sum", ["        return sum(*numbers)"]),
        ("scale\n", ["            return 2 * (scale", "                        + 1)"]),
        ("match count", ["    match count:"]),
    ],
)
def test_a_line_is_run_by_its_statement_and_a_block_by_its_head(
    text: str, lines: list[str]
) -> None:
    found = Places(TEXT).lines(at(text)[0])
    assert [TEXT.splitlines()[line - 1] for line in found] == lines


@pytest.mark.parametrize(
    ("text", "at_import"), [("LIMIT = 3", True), ("def total", True), ("count = LIMIT", False)]
)
def test_what_stands_outside_of_functions_runs_at_import(text: str, at_import: bool) -> None:
    assert Places(TEXT).runs_at_import(at(text)[0]) is at_import
