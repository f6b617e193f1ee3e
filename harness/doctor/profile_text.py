"""A profile as TOML, and the file that it goes to.

A file that is there is only ever extended: what it says stays as it is, letter by letter.
"""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from harness.core.values.errors import InputError
from harness.core.values.messages import Json, printable
from harness.core.values.profile import Profile
from harness.core.values.visible_text import visible_line
from harness.doctor.probe import Observation
from harness.files.regular_file import text_of, write_atomically
from harness.redaction.encoder import encoded, shown
from harness.redaction.masking import mask_value

PYPROJECT, OWN_FILE = "pyproject.toml", "harness.toml"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def place_for(named: str, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """The file that a profile goes to, and the table in it.

    A name goes into the configuration of the folder, and into NAME.toml where that has a profile of
    this name. Raises InputError for a file that is there already.
    """
    if not named.endswith(".toml"):
        for path, above in _configurations(folder):
            table = (*above, "profiles", named)
            if _can_take(path, table):
                return path, table
        named = f"{named}.toml"
    path = folder / named
    if path.exists():
        raise InputError("the file is there: name another one, or remove it", f"--write {named}")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", f"--write {named}")
    return path, ()


def _configurations(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    project, own = folder / PYPROJECT, folder / OWN_FILE
    if own.exists() or "tool.harness" not in _text(project):
        yield own, ()
    else:
        yield project, ("tool", "harness")


def _text(path: Path) -> str:
    return text_of(path) if path.exists() else ""


def _can_take(path: Path, table: tuple[str, ...]) -> bool:
    """Whether the table can stand at the end of the file, and is not there yet."""
    before = _text(path)
    try:
        old = tomllib.loads(before)
        new = tomllib.loads(f"{before}\n{_header(table)}\nnew = 1\n")
    except tomllib.TOMLDecodeError:
        return False
    for key in table[:-1]:
        old, new = old.get(key, {}), new[key]
    return table[-1] not in old and table[-1] in new


def write(text: str, path: Path) -> None:
    """Add a text to the end of a file, which is made if it is not there."""
    before = _text(path)
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    write_atomically(path.resolve(), encoded(before + gap + text))


def profile_text(
    profile: Profile, seen: Sequence[Observation], target: str, table: tuple[str, ...]
) -> str:
    """The TOML text of a profile, with a comment for each connection that was not seen."""
    values = {"target": target, **msgspec.to_builtins(profile), "stream": profile.stream}
    lines = [
        f"# Written by `harness doctor --target {_value(target)}`.",
        *_comments(o for o in seen if o.part == "connections" and o.state != "seen"),
        *_table(values, table),
    ]
    return "\n".join(lines).lstrip("\n") + "\n"


def _comments(unseen: Iterator[Observation]) -> Iterator[str]:
    for one in unseen:
        words = f"{one.item}, {one.state}: {one.what}" + (f" ({one.see})" if one.see else "")
        words = visible_line(shown(words))  # TOML refuses a control character in a comment
        yield from textwrap.wrap(
            words, 98, initial_indent="# ", subsequent_indent="#   ", break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip


def _table(values: Mapping[str, Json], path: tuple[str, ...]) -> Iterator[str]:
    plain = {k: v for k, v in values.items() if not isinstance(v, Mapping)}
    if path and plain:
        yield _header(path)
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield ""
            yield from _table(value, (*path, key))


def _header(path: tuple[str, ...]) -> str:
    return f"[{'.'.join(map(_key, path))}]"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Json) -> str:
    """A value as TOML writes it; JSON writes strings, numbers and booleans alike."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    # Not ASCII: TOML has no word for the pair of escapes by which JSON says an emoji.
    return visible_line(json.dumps(mask_value(printable(value)), ensure_ascii=False))
