"""A cassette from one format into another, without loss.

What is written is read back before it reaches the disk: a target that does not say the same is an
error, never a file. The same means the same bytes of every body, the same headers and status, and
whatever the writer noted beside them; only the order of keys and the layout may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.cassettes import yaml_out
from harness.cassettes.atomic import write_atomically
from harness.cassettes.read import load, parse
from harness.core.values.errors import InputError, nearest
from harness.recordings import compact_codec
from harness.recordings.interaction import Cassette


def _compact(cassette: Cassette) -> bytes:
    return b"".join(compact_codec.lines(cassette))


FORMATS: dict[str, Callable[[Cassette], bytes]] = {
    "compact": _compact,
    "vcr": yaml_out.vcr,
    "cassetter": yaml_out.cassetter,
}
"""The formats that can be written; every one that is known can be read."""

_ENDINGS = {".jsonl": "compact", ".yaml": "vcr", ".yml": "vcr"}
"""The format that a file's name asks for."""


class Converted(msgspec.Struct, frozen=True):
    """What was written: its format, how many interactions, and both sizes in bytes."""

    format: str
    interactions: int
    before_bytes: int
    after_bytes: int


def format_for(target: Path, to: str = "") -> str:
    """The format of a target: `to`, else by its name. InputError when neither says one."""
    if to:
        if to not in FORMATS:
            raise InputError(f"no format is named {to!r}; {nearest(to, FORMATS)}", "--to")
        return to
    if target.suffix not in _ENDINGS:
        known = ", ".join(f"{end} ({name})" for end, name in _ENDINGS.items())
        raise InputError(f"the name says no format; known are {known}; or say --to", str(target))
    return _ENDINGS[target.suffix]


def convert(source: Path, target: Path, to: str = "", *, force: bool = False) -> Converted:
    """Write the cassette `source` to `target` in another format.

    Raises InputError for a source that is no cassette, a target that is there already (unless
    `force`), and what the target's format cannot say.
    """
    name = format_for(target, to)
    if target.exists() and not force:
        raise InputError("is there already: --force replaces it", str(target))
    cassette = load(source)
    try:
        data = written(cassette, name)
    except InputError as error:
        raise InputError(error.what, f"{source}: {error.place}") from None
    write_atomically(target, data)
    count = sum(1 for _ in cassette.interactions)
    return Converted(name, count, source.stat().st_size, len(data))


def written(cassette: Cassette, format: str) -> bytes:
    """The bytes of a cassette in a format; InputError, with the place, for what it cannot say."""
    data = FORMATS[format](cassette)
    again = parse(data)
    if again.metadata != cassette.metadata:
        raise InputError(f"{format} cannot say this without loss", "metadata")
    pairs = zip(cassette.interactions, again.interactions, strict=True)
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            lost = next(
                name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name)
            )
            raise InputError(f"{format} cannot say its {lost}", f"interaction {number}")
    return data
