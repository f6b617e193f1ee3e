"""The environment in which tools work: its specification, its configuration, its creation.

Every way of configuration (file, process variables, `config set`, the container builder) derives
from the fields of `EnvironmentSpec`. Separate lists of keys lose keys silently (hermes-agent
#28863, #39683). The tools of a task share one environment with one specification (#84027). Settings
pass through variables as JSON, as for another process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Annotated, Any, Protocol, TypeAlias

import msgspec

from harness.core.values.brief import Tool
from harness.core.values.errors import InputError, nearest
from harness.core.values.messages import Json

Name: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[!-~]+$")]
"""Printable ASCII without spaces, so that it can be the value of a variable unchanged."""

Share: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=4096)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]

SECTION = "terminal"
"""The section of a configuration for the environment."""

ENVIRONMENT_TOOLS = frozenset({"terminal", "file", "code"})
"""The tools that work in the environment."""

CREATE, SETTINGS_OF = "create_environment", "environment_settings"


class EnvironmentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A container, in full.

    `cap_drop` are kernel capabilities, `security_options`, `mounts` (`SOURCE:TARGET[:ro]`) and
    `extra_args` are passed to the backend unchanged. `cpus` is a number of cores, `memory_mib` and
    `disk_mib` are in MiB, and `pids` is the largest number of processes.
    """

    image: Name = "debian:stable-slim"
    env: dict[str, str] = {}
    network: Name = "none"
    cap_drop: tuple[str, ...] = ("ALL",)
    security_options: tuple[str, ...] = ("no-new-privileges",)
    mounts: tuple[str, ...] = ()
    extra_args: tuple[str, ...] = ()
    cpus: Share = 1.0
    memory_mib: Positive = 4096
    disk_mib: Positive = 16384
    pids: Positive = 256

    def plain(self) -> dict[str, Json]:
        """All keys, with JSON values."""
        values = msgspec.to_builtins(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


class Setting(msgspec.Struct, frozen=True):
    """A key of the section. `is_text`: its values are written unchanged; all others are JSON."""

    key: str
    is_text: bool

    @property
    def name(self) -> str:
        """The key for `config set`."""
        return f"{SECTION}.{self.key}"

    @property
    def variable(self) -> str:
        """The key as a variable of a process."""
        return f"{SECTION}_{self.key}".upper()


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(field.name, isinstance(field.default, str))
    for field in msgspec.structs.fields(EnvironmentSpec)
)
"""Every key of the struct, once."""


def from_section(section: Mapping[str, Json]) -> EnvironmentSpec:
    """The specification in a configuration's section; a missing key has its default.

    A value that is not text may also be written as JSON in a string. Raises InputError, with the
    name, for an unknown key and for a value that does not fit.
    """
    return _spec({key: (setting_of(key), value) for key, value in section.items()})


def to_variables(spec: EnvironmentSpec) -> dict[str, str]:
    """The variables that pass a specification to a process, one for each key."""
    values = spec.plain()
    return {s.variable: _written(s, values[s.key]) for s in SETTINGS}


def from_variables(variables: Mapping[str, str]) -> EnvironmentSpec:
    """The specification from a process's variables; an empty variable counts as not set.

    Raises InputError, with the variable's name, for a value that does not fit.
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
    """The specification for values; each value has the place that an error names."""
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


class Backend(Protocol):
    """Creates environments."""

    def create(self, spec: EnvironmentSpec, /) -> Any:
        """A new environment; an error that it raises becomes the result of the tool."""


class Environments:
    """One environment for each task. `settings` gives the specification when it is first needed."""

    def __init__(self, backend: Backend | None, settings: Callable[[], EnvironmentSpec]) -> None:
        self.backend, self.settings = backend, settings
        self._made: dict[str, Any] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()

    def ready(self, task: str, tool: str) -> Any:
        """The environment of the task, made if there is none yet; None for a tool without one."""
        if self.backend is None or tool not in ENVIRONMENT_TOOLS:
            return None
        with self._lock:
            lock = self._locks.setdefault(task, Lock())
        with lock:
            if task not in self._made:
                self._made[task] = self.backend.create(self.spec_for(tool))
            return self._made[task]

    def spec_for(self, tool: str) -> EnvironmentSpec:
        """The specification that this tool would create first; it is the same for all tools."""
        return self.settings()


class ToolBackend:
    """A backend whose environments a tool makes."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def create(self, spec: EnvironmentSpec) -> Any:
        """The tool's answer; an error of the tool is raised unchanged."""
        return self.tool.call(spec.plain(), id=CREATE)


def environments_of(
    tools: Sequence[Tool], bridge: Callable[[EnvironmentSpec], dict[str, str]] = to_variables
) -> Environments:
    """The environments of the tools; empty without `create_environment`."""
    named = {tool.name: tool for tool in tools}
    backend = ToolBackend(named[CREATE]) if CREATE in named else None
    return Environments(backend, lambda: from_variables(bridge(_configured(named))))


def tools_for_model(tools: Sequence[Tool]) -> list[Tool]:
    """The tools without the one that only makes the environment."""
    hidden = (CREATE, SETTINGS_OF) if any(tool.name == CREATE for tool in tools) else ()
    return [tool for tool in tools if tool.name not in hidden]


def _configured(named: dict[str, Tool]) -> EnvironmentSpec:
    if SETTINGS_OF not in named:
        return EnvironmentSpec()
    said = named[SETTINGS_OF].call({}, id=SETTINGS_OF)
    try:
        section = json.loads(said)
    except (TypeError, ValueError) as error:
        raise InputError(f"the settings are not JSON: {error}", SECTION) from None
    if not isinstance(section, dict):
        raise InputError("the settings are not an object", SECTION)
    return from_section(section)
