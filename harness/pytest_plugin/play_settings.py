"""The settings of a test's runs: from its markers, the options `--harness-*` and the ini keys.

The order of precedence is: a keyword of `play`, the marker of the test, of its class, of its
module, the command line, the ini file.
"""

from __future__ import annotations

import json
import os
import pkgutil
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any

import pytest

from harness.core.values.errors import InputError, nearest
from harness.pytest_plugin.scenario_items import ScenarioItem, is_bundled

MARKER_HELP = (
    "harness(*, target, profile, wire, stream, world, options, store, seed, fail_on): how `play` "
    "and `fake_model` play in this test, class or module"
)
MARKER = "harness"
PLACE = "@pytest.mark.harness"
WORLDS = ("simulate", "supervise")
CLASSES = ("defect", "weakness", "advice")

_BOOLEANS = ("true", "false")

_TABLES: dict[str, dict[str, dict[str, Any]]] = json.loads(
    pkgutil.get_data(__package__, "options.json") or "{}"
)
"""The options `--harness-NAME` and the ini keys `harness_NAME`, as pytest takes them. They are read
without msgspec, which a session without a scenario never needs."""


def add_options(parser: pytest.Parser) -> None:
    """Register all options and ini keys."""
    group = parser.getgroup("harness", "loop-harness: scenarios for LLM agents")
    for name, settings in _TABLES["options"].items():
        more: dict[str, Any] = {"type": int} if settings.get("metavar") == "N" else {}
        group.addoption(f"--harness-{name}", **settings, **more)
    for name, settings in _TABLES["ini"].items():
        parser.addini(f"harness_{name}", **settings)


@dataclass(frozen=True, kw_only=True)
class PlaySettings:
    """How runs are played; None leaves a setting to the next source.

    `target` is a specification or a function of a brief; `profile` a configured name, a file or a
    value.
    """

    target: Any = None
    profile: Any = None
    wire: str | None = None
    stream: bool | None = None
    world: Any = None
    options: Mapping[str, Any] | None = None
    store: str | None = None
    seed: int | None = None
    fail_on: Any = None

    @property
    def plays_every_wire(self) -> bool:
        """Whether each scenario is played on each wire that it names."""
        from harness.core.scenario.scenario import EVERY_WIRE

        return self.wire == EVERY_WIRE

    @property
    def wires(self) -> tuple[str, ...]:
        """The one wire that is asked for, if any."""
        return (self.wire,) if self.wire and not self.plays_every_wire else ()

    def over(self, other: PlaySettings) -> PlaySettings:
        """Return these settings, completed by those of another; options are merged."""
        merged = {name: _first(getattr(self, name), getattr(other, name)) for name in NAMES}
        if self.options and other.options:
            merged["options"] = {**other.options, **self.options}
        return PlaySettings(**merged)


NAMES = tuple(field.name for field in fields(PlaySettings))
NOTHING = PlaySettings()


def _first(ours: Any, theirs: Any) -> Any:
    return theirs if ours is None else ours


def checked(given: Mapping[str, Any], place: str) -> PlaySettings:
    """Return settings of names. Raises InputError for an unknown or unusable one."""
    for name, value in given.items():
        if name not in NAMES:
            raise InputError(f"no setting {name!r}; {nearest(name, NAMES)}", place)
        if value is not None and (what := _mistake(name, value)):
            raise InputError(f"{name}: {what}", place)
    return PlaySettings(**given)


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "wire": (str, "the name of a wire"),
    "stream": (bool, "True or False"),
    "world": (str, " or ".join(WORLDS)),
    "options": (Mapping, "a mapping of names to values"),
    "store": (str, "READER:PATH"),
    "seed": (int, "a whole number"),
    "fail_on": (str, f"one of {', '.join(CLASSES)}"),
}
_CHOICES = {"world": ("world", WORLDS), "fail_on": ("class", CLASSES)}


def _mistake(name: str, value: Any) -> str:
    """Return the error of a value; "" for a usable one."""
    if name == "target":
        is_one = isinstance(value, str) or callable(value) or hasattr(value, "agent")
        return "" if is_one else f"a specification or a function, not {_kind(value)}"
    if name == "profile":
        is_one = isinstance(value, str) or hasattr(value, "capabilities")
        return "" if is_one else f"a name, a file or a Profile, not {_kind(value)}"
    kind, words = _KINDS[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"{words}, not {_kind(value)}"
    if name in _CHOICES and value not in _CHOICES[name][1]:
        noun, known = _CHOICES[name]
        return f"no {noun} {value!r}; {nearest(str(value), known)}"
    return _unknown_wire(str(value)) if name == "wire" else ""


def _kind(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"[:80]


def _unknown_wire(name: str) -> str:
    from harness import providers
    from harness.core.scenario.scenario import EVERY_WIRE

    if name == EVERY_WIRE:
        return ""
    try:
        providers.record(name)
    except InputError as error:
        return error.what
    return ""


def marked(node: pytest.Item) -> PlaySettings:
    """Return the settings of a test's markers; the closest one wins.

    Raises InputError for an unusable marker.
    """
    return reduce(PlaySettings.over, map(_of_marker, node.iter_markers(MARKER)), NOTHING)


def _of_marker(marker: pytest.Mark) -> PlaySettings:
    if marker.args:
        what = f"takes keywords, as in harness(wire='openai-chat'), not {marker.args[0]!r}"
        raise InputError(what, PLACE)
    return checked(marker.kwargs, PLACE)


def configured(config: pytest.Config) -> PlaySettings:
    """Return the settings of the command line, completed by the ini file.

    Raises InputError for an unusable value.
    """
    line = _of(lambda name: config.getoption(_option(name)), _option, ("seed",))
    return line.over(_of(lambda name: config.getini(f"harness_{name}"), "harness_{}".format))


def _option(name: str) -> str:
    return f"--harness-{name.replace('_', '-')}"


def _of(
    get: Callable[[str], Any], place: Callable[[str], str], more: tuple[str, ...] = ()
) -> PlaySettings:
    """Return the settings of one source; `get` returns each by name, "" or None for none."""
    found = NOTHING
    for name in ("target", "profile", "wire", "stream", "fail_on", *more):
        value = get(name)
        if name == "stream" and value:
            value = true_or_false(value, place(name))
        if value in ("", None):
            continue
        if what := _mistake(name, value):
            raise InputError(what, place(name))
        found = replace(found, **{name: value})
    return found


def true_or_false(text: str, place: str) -> bool:
    """Return the boolean of a text. Raises InputError for any other text."""
    if text not in _BOOLEANS:
        raise InputError(f"true or false, not {text!r}", place)
    return text == "true"


def repeat_command(item: pytest.Item, settings: PlaySettings = NOTHING) -> str:
    """Return the command that plays a test again, from the folder in which pytest was started."""
    config = item.config
    file, _, name = item.nodeid.partition("::")
    if isinstance(item, ScenarioItem) and is_bundled(file):
        return shlex.join(["harness", "run", file, *_run_words(item, settings)])
    path = os.path.relpath(item.path, config.invocation_params.dir)
    return shlex.join(["pytest", *_root_words(item), f"{path}::{name}", *_repeat_words(config)])


def _run_words(item: ScenarioItem, settings: PlaySettings) -> list[str]:
    """Return the options of `harness run` for a bundled run, for which pytest takes no path."""
    words = ["--only", item.runs[0].run_name]
    for name in ("target", "profile", "seed", "fail_on"):
        value = getattr(settings, name)
        words += [f"--{name.replace('_', '-')}", str(value)] if isinstance(value, str | int) else []
    return words


def _root_words(item: pytest.Item) -> list[str]:
    """Return the options that keep the root folder for a file outside it."""
    config, start = item.config, item.config.invocation_params.dir
    if item.path.is_relative_to(config.rootpath):
        return []
    if config.inipath is None:
        return ["--rootdir", os.path.relpath(config.rootpath, start)]
    return ["-c", os.path.relpath(config.inipath, start)]


def _repeat_words(config: pytest.Config) -> list[str]:
    """Return the options of this session that a repeat of a test needs."""
    words = []
    for name in ("target", "profile", "wire", "stream", "seed", "fail_on"):
        value = config.getoption(_option(name))
        words += [] if value is None else [_option(name), str(value)]
    for flag in ("--harness-isolate", "--harness-no-config"):
        words += [flag] if config.getoption(flag) else []
    for setting in config.getoption("override_ini") or ():
        words += ["-o", setting] if setting.startswith("harness_") else []
    return words
