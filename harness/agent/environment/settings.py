"""The ways in which an environment is configured, all derived from one table.

A key travels from a configuration file to the variables of a process, from there to the tool that
builds the container, and `config set` writes it back. Where each way has a list of its own, a key
is sooner or later missing from one of them, and what was configured is silently not there
(hermes-agent #28863, #39683). So there is one list, and it is the fields of the struct.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from harness.agent.environment.spec import EnvironmentSpec
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json

SECTION = "terminal"
"""The part of a configuration that speaks of the environment."""


class Setting(msgspec.Struct, frozen=True):
    """A key in its spellings: in the section, for `config set`, as a variable of a process.

    `is_text`: its values are written as they stand; all others are JSON.
    """

    key: str
    name: str
    variable: str
    is_text: bool


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(
        field.name,
        f"{SECTION}.{field.name}",
        f"{SECTION}_{field.name}".upper(),
        isinstance(field.default, str),
    )
    for field in msgspec.structs.fields(EnvironmentSpec)
)
"""Every key of the struct, once."""


def from_section(section: Mapping[str, Json]) -> EnvironmentSpec:
    """The specification that a configuration's section says; a key that is not set is default.

    A value that is not text may also be written as JSON in a string. Raises InputError for an
    unknown key and for a value that does not fit, and names it.
    """
    return _spec({key: (setting_of(key), value) for key, value in section.items()})


def to_variables(spec: EnvironmentSpec) -> dict[str, str]:
    """The variables that hand a specification to a process, each key of it."""
    values = spec.plain()
    return {s.variable: _written(s, values[s.key]) for s in SETTINGS}


def from_variables(variables: Mapping[str, str]) -> EnvironmentSpec:
    """The specification that a process was handed; a variable that is empty is not set.

    Raises InputError for a value that does not fit, and names the variable.
    """
    held = [(s, variables.get(s.variable, "")) for s in SETTINGS]
    return _spec({s.variable: (s, value) for s, value in held if value})


def with_set(section: Mapping[str, Json], name: str, text: str) -> dict[str, Json]:
    """The section after `config set NAME TEXT`.

    Raises InputError for an unknown name and for a text that does not fit.
    """
    names = {s.name: s for s in SETTINGS}
    if name not in names:
        raise InputError(f"there is no setting {name!r}; {nearest(name, names)}", "config set")
    setting = names[name]
    spec = _spec({name: (setting, text)})
    return {**section, setting.key: spec.plain()[setting.key]}


def setting_of(key: str) -> Setting:
    """The setting of a key in the section. Raises InputError for an unknown one."""
    keys = {s.key: s for s in SETTINGS}
    if key not in keys:
        raise InputError(f"there is no key {key!r}; {nearest(key, keys)}", SECTION)
    return keys[key]


def _written(setting: Setting, value: Json) -> str:
    return value if setting.is_text and isinstance(value, str) else json.dumps(value)


def _spec(held: Mapping[str, tuple[Setting, Json]]) -> EnvironmentSpec:
    """The specification of values, each under the place that an error should name."""
    values: dict[str, Any] = {}
    for place, (setting, value) in held.items():
        try:
            values[setting.key] = _read(setting, value)
            msgspec.convert({setting.key: values[setting.key]}, type=EnvironmentSpec)
        except (msgspec.ValidationError, ValueError) as error:
            raise InputError(f"the value does not fit: {error}", place) from None
    return msgspec.convert(values, type=EnvironmentSpec)


def _read(setting: Setting, value: Json) -> Json:
    return value if setting.is_text or not isinstance(value, str) else json.loads(value)
