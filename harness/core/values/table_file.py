"""Files of a package, and its tables: tab-separated text, read and checked once.

A list cell holds words separated by blanks; an object cell holds JSON; an empty cell means the
default. Blank lines and lines that begin with `#` are comments.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from harness.core.values.errors import InputError, nearest

_Row = TypeVar("_Row", bound=msgspec.Struct)


def table(package: str, name: str, row: type[_Row]) -> MappingProxyType[Any, _Row]:
    """The rows of a package's file by their first column, in the order of the file.

    Raises InputError, with file and line, for an invalid row.
    """
    return parse(package_text(package, name), row, name)


def pairs(package: str, name: str) -> dict[str, str]:
    """A table of two columns: the second one by the first; an empty cell is ""."""
    _, *rows = (cells for _, cells in _lines(package_text(package, name)))
    return {cells[0]: "".join(cells[1:]) for cells in rows}


def table_beside(module: str, row: type[_Row]) -> Mapping[Any, _Row]:
    """The rows of the table that stands beside a module and has its name; none without a file."""
    name = f"{module.rpartition('.')[2]}.tsv"
    try:
        return table(module, name, row)
    except (OSError, AssertionError):  # a module without a table, or one that no file holds
        return {}


def package_text(package: str, name: str) -> str:
    """The text of a file in a package."""
    data = pkgutil.get_data(package, name)
    assert data is not None, "the package is on a path that can be read"
    return data.decode()


def parse(text: str, row: type[_Row], name: str) -> MappingProxyType[Any, _Row]:
    """The rows of a table's text; `name` is the file, for errors."""
    (_, first), *lines = list(_lines(text)) or [(1, [""])]
    for column in first:
        if column not in row.__struct_encode_fields__:
            hint = nearest(column, row.__struct_encode_fields__)
            raise InputError(f"no column is named {column!r}; {hint}", f"{name}:1")
    hints = get_type_hints(row)
    fields = zip(row.__struct_encode_fields__, row.__struct_fields__, strict=True)
    types = {column: hints[field] for column, field in fields}
    rows: dict[Any, _Row] = {}
    for number, cells in lines:
        place = f"{name}:{number}"
        value = _row(cells, first, types, row, place)
        key = getattr(value, first[0])
        if key in rows:
            raise InputError(f"a second row has the {first[0]} {key!r}", place)
        rows[key] = value
    return MappingProxyType(rows)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            yield number, [cell.strip() for cell in line.split("\t")]


def _row(
    cells: Sequence[str], columns: Sequence[str], types: dict[str, Any], row: type[_Row], place: str
) -> _Row:
    if len(cells) > len(columns):
        raise InputError(f"{len(cells)} cells for {len(columns)} columns", place)
    try:
        values = {
            column: _cell(cell, types[column])
            for column, cell in zip(columns, cells, strict=False)
            if cell
        }
        return msgspec.convert(values, row, strict=False)
    except (msgspec.MsgspecError, json.JSONDecodeError) as error:
        raise InputError(f"{error}", place) from None


def _cell(cell: str, type_: Any) -> object:
    """A cell as its column's type: objects, and tuples of objects, stand in JSON."""
    origin = get_origin(type_) or type_
    is_of_objects = origin is tuple and get_origin(get_args(type_)[0]) is dict
    if origin is dict or is_of_objects:
        return json.loads(cell)
    return cell.split() if origin is tuple else cell
