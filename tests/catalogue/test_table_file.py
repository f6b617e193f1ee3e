"""Tables as files: what a row is, and the errors for a line that is not a row."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from harness.catalogue.fault_table import ROWS
from harness.core.values.errors import InputError
from harness.core.values.table_file import pairs, parse


class Thing(msgspec.Struct, frozen=True):
    """A row with a cell of every type."""

    number: int
    name: str
    words: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    note: str = ""


HEAD = "number\tname\twords\tsettings\tnote\n"


def test_a_row_has_the_types_of_its_struct() -> None:
    rows = parse(HEAD + '7\t"so"\ta b\t{"x": null}\tlast\n', Thing, "things.tsv")
    assert list(rows) == [7]
    assert (rows[7].name, rows[7].words, rows[7].note) == ('"so"', ("a", "b"), "last")
    assert rows[7].settings == {"x": None}


def test_what_is_empty_or_cut_off_stands_at_its_default() -> None:
    rows = parse(f"# a comment\n{HEAD}\n1\tone\r\n\n2\ttwo\t\t\t \n", Thing, "things.tsv")
    assert list(rows.values()) == [Thing(1, "one"), Thing(2, "two")]


def test_a_line_separator_is_part_of_a_cell() -> None:
    assert parse(HEAD + "1\ta\u2028b\x85c", Thing, "things.tsv")[1].name == "a\u2028b\x85c"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("number\tnmae\n", 1, "no column is named 'nmae'; did you mean 'name' or 'number'?"),
        ("", 1, "no column is named ''"),
        (HEAD + "1\tone\nx\ttwo\n", 3, "Expected `int`, got `str` - at `$.number`"),
        (HEAD + "\n1\t\ta\n", 3, "missing required field `name`"),
        (HEAD + "1\tone\n1\tuno\n", 3, "a second row has the number 1"),
        (HEAD + "1\ta\tb\t{}\te\tf\n", 2, "6 cells for 5 columns"),
        (HEAD + "1\ta\tb\t{x}\n", 2, "Expecting property name"),
    ],
)
def test_a_wrong_line_is_named(text: str, line: int, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        parse(text, Thing, "things.tsv")
    assert caught.value.place == f"things.tsv:{line}"


def test_every_row_of_the_fault_table_is_of_a_layer_and_says_what_is_right() -> None:
    for code, row in ROWS.items():
        assert re.fullmatch(r"[CGHKMPSTX]\d+", code), code
        assert row.fault, code
        assert row.right, code


def test_a_table_of_two_columns_is_a_mapping_with_empty_cells_as_empty_texts() -> None:
    found = pairs("harness.faults.shared", "blanks.tsv")
    assert found["role"] == "user"
    assert found["hint"] == ""
    assert "blank" not in found
