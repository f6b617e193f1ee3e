"""Scenario files and overlays: YAML files as scenarios and faults, with the line of every mistake.

A file gives one scenario for each variant and wire, streamed or not. Variants merge into the
baseline deeply; a list replaces a list. Faults of an overlay follow the scenario's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness import providers
from harness.core.scenario.scenario import (
    DEFAULT_WIRE,
    OF_THE_COMMAND,
    Expect,
    FaultSpec,
    Scenario,
    ToolScript,
)
from harness.core.values.errors import InputError, nearest
from harness.core.values.strict import none_of
from harness.core.values.visible_text import visible_line
from harness.files.bundle import named_path
from harness.files.mistakes import explain, mistakes_in, mistakes_in_expectation
from harness.files.regular_file import HEAD_BYTES, files_below, opened, whole
from harness.files.yaml_text import SIZE_MAX_BYTES, Lines, parse

_T = TypeVar("_T")
_KNOBS = tuple(name for name in FaultSpec.__struct_fields__ if name != "settings")
_FILE_KEYS = (*(f.encode_name for f in msgspec.structs.fields(Scenario)), "variants")
_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def find_scenarios(
    paths: Sequence[Path | str], told: Callable[[str], object] = lambda text: None
) -> list[Path]:
    """The scenario files that `paths` name: files as they are, of a folder those with `script:`.

    A text may name what the package contains, as `@loops`. `told` is called for each file of a
    folder that is not opened, such as a link out of it. Raises InputError for a path that does not
    exist and a folder without a scenario.
    """
    found: list[Path] = []
    for named in paths:
        path = named_path(named) if isinstance(named, str) else named
        if not path.exists():
            raise InputError("no such file or folder", str(path))
        if path.is_dir():
            inside = [p for p in _yaml_files(path, told) if has_script(p)]
            if not inside:
                raise InputError("no scenario in this folder (a *.yaml with `script:`)", str(path))
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _yaml_files(folder: Path, told: Callable[[str], object]) -> Iterator[Path]:
    for found in files_below(os.fspath(folder)):
        if found.refused:
            told(visible_line(f"{found.path}: {found.refused}"))
        elif found.path.endswith(".yaml"):
            yield Path(found.path)


def has_script(path: Path) -> bool:
    """Whether a file is meant as a scenario; raises InputError when it cannot be read."""
    with opened(path) as file:
        lines = iter(partial(file.readline, HEAD_BYTES), b"")
        return any(line.startswith((b"script:", b"\xef\xbb\xbfscript:")) for line in lines)


def load_scenarios(path: Path | str, files_from: tuple[str, ...] = ()) -> list[Scenario]:
    """All runs of a scenario file; the files that it names stand below its folder, or `files_from`.

    A text may name one that the package contains, as `@loops/circles`. Raises InputError
    `FILE:LINE: …` for any mistake in it.
    """
    found = read_source(named_path(path) if isinstance(path, str) else path).scenarios()
    return [msgspec.structs.replace(one, files_from=files_from) for one in found]


def read_source(path: Path) -> SourceFile:
    """A YAML file, parsed; raises InputError `FILE:LINE: …` for text that is not YAML."""
    data = whole(path, SIZE_MAX_BYTES)
    try:
        root, lines = parse(data.decode())
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 at byte {error.start}", str(path)) from None
    except InputError as error:
        raise InputError(error.what, f"{path}:{error.place.removeprefix('line ') or 1}") from None
    return SourceFile(path, root, lines)


class SourceFile:
    """One scenario file on its way to scenarios."""

    def __init__(self, path: Path, root: Any, lines: Lines) -> None:
        self.path, self.root, self.lines = path, root, lines

    def fail(self, what: str, root: Any, *at: str | int) -> InputError:
        """An error at a key of the file."""
        return InputError(what, f"{self.path}:{self.lines.find(root, list(at))}")

    def scenarios(self) -> Iterator[Scenario]:
        """The baseline and the variants, each on every wire, streamed or not."""
        if not isinstance(self.root, dict):
            raise self.fail("a scenario is a mapping with `inbox` and `script`", None)
        variants = self.root.get("variants", {})
        if not isinstance(variants, dict):
            raise self.fail("`variants` maps names to changes", self.root, "variants")
        baseline = {k: v for k, v in self.root.items() if k != "variants"}
        self.lines.put(baseline, self.lines.of(self.root))
        yield from self._expand(baseline, "")
        for name, changes in variants.items():
            if name == "baseline" or not _KEBAB.match(name):
                what = "a name in kebab case, not `baseline`, for it names a folder"
                raise self.fail(f"variant `{name}`: {what}", self.root, "variants", name)
            if not isinstance(changes, dict):
                raise self.fail(f"variant `{name}` is not a mapping", self.root, "variants", name)
            if "name" in changes:
                what = "it changes `name`, which is that of the file and all its runs"
                raise self.fail(f"variant `{name}`: {what}", self.root, "variants", name)
            yield from self._expand(self._merge(baseline, changes), name)

    def _merge(self, base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
        merged, lines = dict(base), dict(self.lines.of(base))
        for key, value in over.items():
            both = isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = self._merge(merged[key], value) if both else value
            lines[key] = self.lines.of(over).get(key, 1)
        self.lines.put(merged, lines)
        return merged

    def _expand(self, values: dict[str, Any], variant: str) -> Iterator[Scenario]:
        self._check_top(values)
        stream = values.get("stream", False)
        streams = (False, True) if stream == "both" else (stream,)
        if streams[0] not in (True, False):
            raise self.fail("key `stream`: true, false or both", values, "stream")
        wires = values.get("wire", DEFAULT_WIRE)
        if isinstance(wires, list) and (not wires or len(wires) != len(set(map(str, wires)))):
            raise self.fail("key `wire`: a list names at least one, and each once", values, "wire")
        for wire in wires if isinstance(wires, list) else [wires]:
            for stream in streams:
                yield self._decode(values, variant, wire, stream)

    def _check_top(self, values: dict[str, Any]) -> None:
        for key in values:
            if key not in _FILE_KEYS or key in OF_THE_COMMAND:
                hint = nearest(key, set(_FILE_KEYS) - set(OF_THE_COMMAND))
                raise self.fail(f"key `{key}`: unknown; {hint}", values, key)
        if "script" not in values:
            raise self.fail("key `script` is missing", values)
        named = "key `name`" if "name" in values else "no key `name`, and the file's name is taken"
        name = values.setdefault("name", self.path.stem)
        if not isinstance(name, str) or not _KEBAB.match(name):
            what = f"{name!r} is not in kebab case, as in `two-words`: it names a folder"
            raise self.fail(f"{named}: {what}", values, "name")

    def _decode(self, values: dict[str, Any], variant: str, wire: Any, stream: Any) -> Scenario:
        long = {**values, **self._long_forms(values), "wire": wire, "stream": stream}
        long |= {"variant": variant, "folder": os.fspath(self.path.parent)}
        self.lines.put(long, self.lines.of(values))
        if isinstance(wire, str) and wire not in providers.names():
            raise self.fail(f"key `wire`: {none_of(repr(wire), providers.names())}", long, "wire")
        self._check_tools(long)
        scenario = self.convert(long, Scenario, long, [])
        for mistake in mistakes_in(scenario):
            raise self.fail(mistake.what, long, *mistake.path)
        return scenario

    def convert(self, value: Any, kind: type[_T], root: Any, prefix: list[str | int]) -> _T:
        """A part of the file as a value; an error names the line of what does not fit."""
        try:
            return msgspec.convert(value, type=kind)
        except msgspec.ValidationError as error:
            mistake = explain(str(error), kind)
            raise self.fail(mistake.text, root, *prefix, *mistake.path) from None

    def _check_tools(self, values: dict[str, Any]) -> None:
        """Tools one by one: an error inside a mapping would not say which tool."""
        tools = values.get("tools", {})
        for name, tool in tools.items() if isinstance(tools, dict) else ():
            self.convert(tool, ToolScript, values, ["tools", name])

    def _long_forms(self, values: dict[str, Any]) -> dict[str, Any]:
        forms: dict[str, Any] = {}
        said = values.get("inbox")
        if isinstance(said, str):
            forms["inbox"] = [{"text": said}]
        elif isinstance(said, list):
            forms["inbox"] = [{"text": each} if isinstance(each, str) else each for each in said]
        if isinstance(values.get("checks"), list):
            forms["checks"] = self._checks(values)
        if isinstance(values.get("faults"), list):
            forms["faults"] = self.long_faults(values)
        return forms

    def long_faults(self, values: dict[str, Any]) -> list[Any]:
        """The faults of a mapping in their long form."""
        long = [self._fault(fault, values, place) for place, fault in enumerate(values["faults"])]
        self.lines.put(long, self.lines.of(values["faults"]))
        return long

    def _checks(self, values: dict[str, Any]) -> dict[str, Any]:
        checks: dict[str, Any] = {}
        for index, item in enumerate(values["checks"]):
            if isinstance(item, str):
                checks.setdefault(item, {})
            elif isinstance(item, dict):
                checks |= item
            else:
                what = "a check is a name, or a name with settings"
                raise self.fail(what, values, "checks", index)
        return checks

    def _fault(self, fault: Any, values: dict[str, Any], index: int) -> Any:
        """The fault's common keys, without its own settings."""
        if not isinstance(fault, dict):
            raise self.fail("a fault is a mapping with `kind`", values, "faults", index)
        settings = {k: v for k, v in fault.items() if k not in _KNOBS}
        long = {k: v for k, v in fault.items() if k in _KNOBS} | {"settings": settings}
        for part in (long, settings):
            self.lines.put(part, self.lines.of(fault))
        return long


def load_overlay(path: Path) -> tuple[FaultSpec, ...]:
    """The faults of an overlay file.

    Raises InputError `FILE:LINE: …` for any mistake in it, wrong names apart.
    """
    source = read_source(path)
    root: Any = source.root
    if not isinstance(root, dict) or not isinstance(root.get("faults"), list):
        raise source.fail("an overlay is a mapping with a list of `faults`", root)
    for key in root:
        if key != "faults":
            raise source.fail(f"key `{key}`: unknown; {nearest(key, ['faults'])}", root, key)
    long = {"faults": source.long_faults(root)}
    source.lines.put(long, source.lines.of(root))
    return tuple(
        source.convert(fault, FaultSpec, long, ["faults", place])
        for place, fault in enumerate(long["faults"])
    )


def load_expectation(path: Path) -> Expect:
    """The expectation in a file: the key `expect` of a scenario, alone.

    Raises InputError `FILE:LINE: …` for any mistake in it.
    """
    source = read_source(path)
    root: Any = source.root
    if not isinstance(root, dict) or list(root) != ["expect"]:
        raise source.fail("an expectation is a mapping with the one key `expect`", root)
    wanted = source.convert(root["expect"], Expect, root, ["expect"])
    for mistake in mistakes_in_expectation(wanted):
        raise source.fail(mistake.what, root, *mistake.path)
    return wanted


def with_overlay(scenario: Scenario, overlay: tuple[FaultSpec, ...], place: str) -> Scenario:
    """The scenario with the overlay's faults after its own, marked as one that has them.

    Its own faults are not owed any more: an overlay's may strike in their place.

    Raises InputError for a fault that does not exist, or that this scenario has nothing for;
    `place` is the overlay's file.
    """
    own = tuple(msgspec.structs.replace(fault, must_fire=False) for fault in scenario.faults)
    laid = msgspec.structs.replace(scenario, faults=(*own, *overlay), overlaid=True)
    for mistake in mistakes_in(laid):
        raise InputError(f"{mistake.what} (over {scenario.run_name})", place)
    return laid
