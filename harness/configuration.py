"""The configuration: `[tool.harness]` of pyproject.toml, or harness.toml.

It can name modules to import, so it is read only from the folder in which a command starts. The
folder of a scenario file has no influence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.core.values.errors import InputError, nearest
from harness.core.values.profile import Profile, ProfileLimits
from harness.core.values.strict import Count, Strict
from harness.core.values.verdict import FindingClass
from harness.files.profile_file import line_of, parse_toml
from harness.files.regular_file import text_of
from harness.parts.loading import unknown_name

PYPROJECT, OWN_FILE = "pyproject.toml", "harness.toml"

SUFFIXES = (".toml", ".yaml", ".yml")
"""The suffix of a profile file."""


class Configuration(Strict, frozen=True, kw_only=True):
    """The configuration of the start folder.

    `profile` names one of `profiles`, or a file. `target`, `fail-on` and `limits` apply if the
    profile does not set them. `catalogue` holds the scenarios of a command that names none.
    `files_from` holds further folders for the files of a scenario.
    """

    plugins: tuple[str, ...] = ()
    profile: str = ""
    profiles: dict[str, Profile] = {}
    target: str = ""
    catalogue: tuple[str, ...] = ()
    fail_on: FindingClass | None = msgspec.field(default=None, name="fail-on")
    seed: Count | None = None
    limits: ProfileLimits = ProfileLimits()
    files_from: tuple[str, ...] = msgspec.field(default=(), name="files-from")

    def chosen_profile(self, named: str, folder: Path) -> Profile:
        """The profile of a name or a file, else the configured one, completed by the configuration.

        A file path is relative to `folder`. Raises InputError for an invalid profile.
        """
        name = named or self.profile
        profile = self.named_profile(name, folder) if name else Profile()
        places = origins(folder) if profile.checks else {}
        check_settings(profile, f"profile {name}", places)
        return msgspec.structs.replace(
            profile,
            target=profile.target or self.target,
            fail_on=profile.fail_on or self.fail_on,
            limits=ProfileLimits(
                real_s=profile.limits.real_s or self.limits.real_s,
                memory_mb=profile.limits.memory_mb or self.limits.memory_mb,
            ),
        )

    def named_profile(self, name: str, folder: Path) -> Profile:
        """The profile of a name or a file, without additions; raises InputError for an unknown
        one."""
        if name in self.profiles:
            return self.profiles[name]
        if os.path.isfile(folder / name) or name.endswith(SUFFIXES):
            from harness.files.profile_file import load_profile

            return load_profile(folder / name)
        what = f"no profile of this name, and no file; {nearest(name, self.profiles)}"
        raise InputError(what, f"--profile {name}")


def check_settings(profile: Profile, named: str, places: Mapping[str, str]) -> None:
    """Raise InputError for an unknown check, or an unknown setting of a check.

    The error names a place. `places` has it for the keys of the configuration. For a profile file,
    which is not among them, the place is `named`.
    """
    if not profile.checks:
        return
    from harness.checks.judge import checks
    from harness.files.mistakes import wrong_setting

    known, path = checks(), f"profiles.{named.removeprefix('profile ')}.checks"
    for name, settings in profile.checks.items():
        place = places.get(f"{path}.{name}", named)
        if name not in known:
            what = f"key `checks`: there is no check {name!r}; {unknown_name(name, known)}"
            raise InputError(what, place)
        for setting, value in settings.items():
            if what := wrong_setting(name, setting, value):
                where = places.get(f"{path}.{name}.{setting}", place)
                raise InputError(f"key `checks`: {what}", where)


def load_configuration(folder: Path) -> Configuration:
    """The configuration of a folder.

    Raises InputError `FILE:LINE: …` for invalid TOML, for an unknown key or a wrong value, and if
    both files configure.
    """
    project = _File(folder / PYPROJECT, ("tool", "harness"))
    own = _File(folder / OWN_FILE, ())
    if project.keys is None or own.keys is None:
        return (own if project.keys is None else project).configuration()
    raise InputError(f"{PYPROJECT} has [tool.harness] too: keep one of them", str(own.path))


def origins(folder: Path) -> dict[str, str]:
    """Map the dotted path of each configured key to its `FILE:LINE`.

    Raises InputError for invalid TOML.
    """
    files = (_File(folder / PYPROJECT, ("tool", "harness")), _File(folder / OWN_FILE, ()))
    return {path: place for file in files for path, place in file.places()}


class _File:
    def __init__(self, path: Path, table: tuple[str, ...]) -> None:
        self.path, self._table = path, table
        self._text = text_of(path) if path.exists() else ""
        found: Any = parse_toml(self._text, str(path)) if path.exists() else None
        for name in table:
            found = found.get(name) if isinstance(found, Mapping) else None
        if found is not None and not isinstance(found, Mapping):
            what = f"key `{table[-1]}`: a table is expected"
            raise InputError(what, f"{path}:{line_of(self._text, table)}")
        self.keys: Mapping[str, Any] | None = found

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield the dotted path of each key, and its place."""
        yield from self._below(self.keys or {}, ())

    def _below(self, keys: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for key, value in keys.items():
            path = (*above, key)
            yield ".".join(path), self._place(*path)
            if isinstance(value, Mapping):
                yield from self._below(value, path)

    def configuration(self) -> Configuration:
        keys = dict(self.keys or {})
        profiles = keys.pop("profiles", {})
        found = self._converted(keys)
        if not isinstance(profiles, Mapping):
            raise InputError("key `profiles`: a table is expected", self._place("profiles"))
        named = {name: self._profile(name, values) for name, values in profiles.items()}
        return msgspec.structs.replace(found, profiles=named)

    def _converted(self, keys: dict[str, Any]) -> Configuration:
        try:
            return msgspec.convert(keys, type=Configuration)
        except msgspec.ValidationError as error:
            from harness.files.mistakes import explain

            mistake = explain(str(error), Configuration)
            raise InputError(mistake.text, self._place(*mistake.path)) from None

    def _profile(self, name: str, values: Any) -> Profile:
        from harness.files.profile_file import profile_from

        return profile_from(values, lambda path: self._place("profiles", name, *path))

    def _place(self, *path: str | int) -> str:
        return f"{self.path}:{line_of(self._text, (*self._table, *path))}"
