"""TOML text as plain values, with the line of a key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from harness.core.values.errors import InputError

_HEADER = re.compile(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?\Z")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """The values of a TOML text; raises InputError `PLACE:LINE: …` for what is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # before Python 3.14 only its text holds the line
        what, _, at = str(error).partition(" (at line ")
        line = at.partition(",")[0]
        where = f"{place}:{line}" if line.isdecimal() else place
        raise InputError(f"not TOML: {what}", where) from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, or too deep
        raise InputError(f"not TOML: {error}", place) from None


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of the deepest part of a path of keys that the text names, else 1."""
    wanted = [part for part in path if isinstance(part, str)]
    best, depth = 1, 0
    for number, named in _named(text):
        fits = sum(1 for a, b in zip(named, wanted, strict=False) if a == b)
        is_inside = fits == min(len(named), len(wanted))
        if is_inside and fits > depth:
            best, depth = number, fits
    return best


def _named(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each line that names a table or a key, with the whole path of it."""
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header.group(1))
            yield number, table
        elif key := _KEY.match(line):
            path = [*table, *_parts(key.group(1))]
            yield number, path
            for more in re.finditer(r"""[{,]\s*([\w-]+|"[^"]*"|'[^']*')\s*=""", line):
                yield number, [*path, *_parts(more.group(1))]


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(dotted)]
