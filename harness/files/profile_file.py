"""Profile files: YAML or TOML files as profiles, with the line of every mistake.

A TOML text becomes plain values with the line of each key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness import providers
from harness.core.values.errors import InputError, nearest
from harness.core.values.patterns import pattern_of
from harness.core.values.profile import Profile
from harness.files.mistakes import Mistake, explain
from harness.files.regular_file import text_of
from harness.files.scenario_file import read_source

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


Place = Callable[[Sequence[str | int]], str]
"""`path of keys -> FILE:LINE`."""


def load_profile(path: Path) -> Profile:
    """The profile of a file: TOML by its suffix, else YAML.

    Raises InputError `FILE:LINE: …` for any mistake in it.
    """
    return profile_from(*_read(path))


def profile_origins(path: Path) -> dict[str, str]:
    """Where the keys of a profile's file stand, by dotted path; raises InputError as above."""
    values, place = _read(path)
    return {".".join(at): place(at) for at in _paths(values)}


def _read(path: Path) -> tuple[Any, Place]:
    if path.suffix == ".toml":
        text = text_of(path)
        return parse_toml(text, str(path)), lambda at: f"{path}:{line_of(text, at)}"
    source = read_source(path)
    return source.root, lambda at: f"{path}:{source.lines.find(source.root, [*at])}"


def _paths(keys: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in keys.items() if isinstance(keys, dict) else ():
        yield (*above, key)
        yield from _paths(value, (*above, key))


def profile_from(value: Any, place: Place) -> Profile:
    """Plain values as a profile; raises InputError, with its place, for what does not fit."""
    try:
        profile = msgspec.convert(value, type=Profile)
    except msgspec.ValidationError as error:
        mistake = explain(str(error), Profile)
        raise InputError(mistake.text, place(mistake.path)) from None
    for mistake in _mistakes_in(profile):
        raise InputError(mistake.what, place(mistake.path))
    return profile


def _mistakes_in(profile: Profile) -> Iterator[Mistake]:
    for wire in profile.wires:
        if wire not in providers.names():
            hint = nearest(wire, providers.names())
            yield Mistake(f"key `wires`: there is no wire {wire!r}; {hint}", ("wires",))
    for pattern in profile.purposes:
        try:
            pattern_of(pattern)
        except ValueError as error:
            what = f"key `purposes`: {pattern!r} is not a regular expression: {error}"
            yield Mistake(what, ("purposes", pattern))
