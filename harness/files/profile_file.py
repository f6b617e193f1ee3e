"""Profile files: YAML or TOML files as profiles, with the line of every mistake."""

from __future__ import annotations

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
from harness.files.toml_text import line_of, parse_toml

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
