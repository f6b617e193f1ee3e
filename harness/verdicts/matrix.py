"""A table of two things that a command brings together, for the reports that can draw one.

What a list of results cannot show stands in it: which pairs were asked, and which could not be.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.core.values.verdict import FindingClass

CellWord = Literal["held", "found", "open"]


class MatrixCell(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a row and a column come to together; a pair without a cell could not be asked.

    `row` and `column` are places, and `cases` were played. `class_` is the worst one of what was
    found, and `result` the name of a result of the command that shows it.
    """

    row: int
    column: int
    word: CellWord
    cases: int
    text: str
    class_: FindingClass | Literal[""] = msgspec.field(default="", name="class")
    result: str = ""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """The table; `corner` says what its rows are."""

    title: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[MatrixCell, ...]
