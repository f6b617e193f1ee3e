"""The table as Markdown: a fault, a transport, and what surfaces, version by version.

`documented` reads it back, so that a fresh measurement can be held against what is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from tests.wire_table.measure import Measured, package_of
from tests.wire_table.row import Row
from tests.wire_table.rows import ROWS

BEGIN = """# What the SDKs make of faulty answers

Measured on both transports, in process and over loopback, with the versions named in
the columns; made by `make wire-table`, and never edited by hand. "First measured" is what surfaced
from anthropic 2.11.0 and openai 3.52.0 on a raw socket, before this project. **differs** marks a
line where a version now behaves otherwise, and = stands for the same as on its left. A message
stands as `stop reason: blocks`, an exception by its class, status and type.
"""

TITLES = {
    "anthropic": "Anthropic Messages",
    "openai-chat": "OpenAI Chat Completions",
    "openai-responses": "OpenAI Responses",
}


SAME = "="
"""A cell that says what the cell on its left says."""


class Column(msgspec.Struct, frozen=True):
    """One environment: the versions of its SDKs, and what each row led to there."""

    versions: dict[str, str]
    cells: dict[str, Measured]


def name_of(row: Row) -> str:
    """What a row is known by in a column."""
    return f"{row.wire}/{row.how}/{row.what}"


def table(columns: Sequence[Column], older: Sequence[Column] = ()) -> str:
    """The whole document. `older` are columns of another generation of the Anthropic SDK."""
    parts = [BEGIN]
    for wire, title in TITLES.items():
        extra = older if wire == "anthropic" else ()
        parts += [f"## {title}\n", *_lines(wire, [*columns, *extra])]
    return "\n".join(parts) + "\n"


def _lines(wire: str, columns: list[Column]) -> Iterator[str]:
    package = "anthropic" if wire == "anthropic" else "openai"
    heads = [f"{package} {column.versions[package]}" for column in columns]
    yield _line(["Fault", "Transport", "First measured", *heads, ""])
    yield "|---" * (len(heads) + 4) + "|"
    for row in ROWS:
        if row.wire == wire:
            for transports, cells in _by_transport(row, columns):
                left = [row.says, *cells]
                shown = [_code(row.says), *map(_shown, cells, left)]
                yield _line([_what(row), transports, *shown, _note(row, heads, cells)])
    yield ""


def documented(text: str, row: Row, head: str) -> Measured:
    """What a written table says of a row under the column `head`, by transport; or {}."""
    lines = _section(text, row)
    if not lines or head not in lines[0]:
        return {}
    found = [line for line in lines if line[0] == _what(row)]
    place = lines[0].index(head)
    cells = {line[1]: next(c for c in line[place::-1] if c != SAME) for line in found}
    return {
        transport: cell.strip("`")
        for transports, cell in cells.items()
        for transport in transports.split(" and ")
    }


def heads(text: str, row: Row) -> list[str]:
    """The versions that a written table has a column for, where the row stands."""
    return [head for head in _section(text, row)[0] if head.startswith(f"{package_of(row)} ")]


def _section(text: str, row: Row) -> list[list[str]]:
    _, _, section = text.partition(f"## {TITLES[row.wire]}\n")
    return [_cells(line) for line in section.partition("\n## ")[0].splitlines() if "|" in line]


def _cells(line: str) -> list[str]:
    return [cell.replace("\\|", "|") for cell in line.strip("| ").split(" | ")]


def _what(row: Row) -> str:
    return f"{row.what} (plain answer)" if row.how == "plain" else row.what


def _by_transport(row: Row, columns: list[Column]) -> Iterator[tuple[str, list[str]]]:
    """The cells transport by transport, or once for both where they agree."""
    found = {
        transport: [column.cells[name_of(row)][transport] for column in columns]
        for transport in row.transports
    }
    if len({tuple(cells) for cells in found.values()}) == 1:
        yield (" and ".join(found), next(iter(found.values())))
    else:
        yield from found.items()


def _note(row: Row, heads: list[str], cells: list[str]) -> str:
    """Which versions differ from what was measured first, except their HTTP library's name."""
    others = [
        head
        for head, cell in zip(heads, cells, strict=True)
        if cell.replace("httpx.", "httpx2.") != row.says
    ]
    return f"**differs**: {', '.join(others)}" if others else ""


def _shown(cell: str, left: str) -> str:
    return SAME if cell == left else _code(cell)


def _code(cell: str) -> str:
    return f"`{cell}`"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
