"""`harness config`: each value that a command in this folder uses, and where it comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from harness.cli import options

if TYPE_CHECKING:
    from harness.core.values.verdict import FindingClass

NESTED = ("limits", "capabilities")
"""The keys whose nested keys are shown one by one."""

DEFAULT = "default"


class Setting(msgspec.Struct, frozen=True):
    """A key, its value (None: none), and its origin: a flag, a variable, FILE:LINE or `default`."""

    key: str
    value: Any
    origin: str = msgspec.field(default=DEFAULT, name="from")


@click.command("config")
@options.target
@options.profile
@options.real_s
@options.fail_on
@options.seed
@click.option("--trust/--no-trust", "trust", default=None,
              help="Say that this folder is yours (or no more): verbs that only read, such as "
              "`judge`, then load the plug-ins that its configuration names.")  # fmt: skip
@options.named_plugins
@options.every_verb
def command(
    target: str, profile_name: str, fail_on: FindingClass | None, seed: int | None,
    trust: bool | None, as_json: bool,
) -> int:  # fmt: skip
    """Show each value that a command in this folder uses, and where it comes from.

    Add the flags of a command to see what they change.
    """
    from harness.cli.terminal import out
    from harness.redaction.encoder import json_line

    if trust is not None:
        return _set_trust(trust, as_json)
    flags = {"target": target or None, "seed": seed, "fail-on": fail_on, **options.given_flags()}
    rows = list(settings(Path.cwd(), profile_name, flags))
    if as_json:
        for row in rows:
            out(json_line(msgspec.to_builtins(row)))
        return 0
    keys = max(len(row.key) for row in rows)
    values = min(40, max(len(_words(row)) for row in rows))
    for row in rows:
        out(f"{row.key:{keys}}  {_words(row):{values}}  {row.origin}")
    return 0


def _set_trust(is_ours: bool, as_json: bool) -> int:
    from harness.cli.terminal import out
    from harness.files.trusted_folders import set_trust
    from harness.redaction.encoder import json_line

    folder = Path.cwd()
    kept = set_trust(folder, is_ours)
    if as_json:
        out(json_line({"folder": str(folder), "trusted": is_ours, "kept": str(kept)}))
    else:
        out(f"{folder}: {'trusted' if is_ours else 'not trusted'} (kept in {kept})")
    return 0


def _words(row: Setting) -> str:
    """Return a value as JSON; for an empty default, a text that says what applies."""
    from harness.redaction.encoder import json_line
    from harness.schema.struct_schema import KEYS

    if row.origin == DEFAULT and row.value in (None, (), []):
        rows = (KEYS.get(f"{struct}.{row.key}") for struct in ("Configuration", "Profile"))
        said = next((words.default for words in rows if words and words.default), "none")
        return f"({said.replace('`', '')})"
    return json_line(row.value)


def settings(folder: Path, named: str, flags: Mapping[str, Any]) -> Iterator[Setting]:
    """Return the configuration's keys, then those that only a profile has, with effective values.

    A flag overrides the profile, and the profile overrides the configuration.
    """
    from harness.configuration import Configuration
    from harness.core.values.profile import Profile

    found = options.configuration()
    found.chosen_profile(named, folder)  # raises the error of an unusable profile
    name = named or found.profile
    chosen = found.named_profile(name, folder) if name else Profile()
    places = _places(folder) if found != Configuration() else {}
    layers = [
        (_flat(chosen), _profile_places(name, places, folder)),
        (_flat(found), places),
    ]
    given = {"profile": named or None, **flags}
    for key, default in {**_flat(Configuration()), **_flat(Profile())}.items():
        if key != "profiles":
            yield _setting(key, default, given.get(key), layers)


def _setting(
    key: str, default: Any, given: Any, layers: list[tuple[dict[str, Any], dict[str, str]]]
) -> Setting:
    if given is not None:
        return Setting(key, given, _flag(key, given))
    for values, places in layers:
        if key in places and key in values:
            return Setting(key, values[key], places[key])
    return Setting(key, default)


def _flag(key: str, given: Any) -> str:
    """Return the flag that gave a value, or the environment variable in its place."""
    if key == "profile" and os.environ.get(options.PROFILE_VARIABLE) == given:
        return f"${options.PROFILE_VARIABLE}"
    return {"plugins": "--plugin"}.get(key, f"--{key.rpartition('.')[2].replace('_', '-')}")


def _places(folder: Path) -> dict[str, str]:
    from harness.configuration import origins

    return {key: _near(place, folder) for key, place in origins(folder).items()}


def _profile_places(name: str, places: dict[str, str], folder: Path) -> dict[str, str]:
    """Return where each key of a profile is written: in the configuration, or in its own file."""
    from harness.files.profile_file import profile_origins

    head = f"profiles.{name}."
    if not name or f"profiles.{name}" in places:
        return {key.removeprefix(head): p for key, p in places.items() if key.startswith(head)}
    found = profile_origins(folder / name)
    return {key: _near(place, folder) for key, place in found.items()}


def _near(place: str, folder: Path) -> str:
    return place.removeprefix(f"{folder}{os.sep}")


def _flat(struct: Any) -> dict[str, Any]:
    """Return the values of a struct by key, and those of nested keys by dotted path."""
    found: dict[str, Any] = {}
    names = zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True)
    for key, field in names:
        value = getattr(struct, field)
        if key in NESTED:
            found |= {f"{key}.{inner}": one for inner, one in _flat(value).items()}
        else:
            found[key] = msgspec.to_builtins(value)
    return found
