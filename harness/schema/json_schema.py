"""The JSON Schemas of a scenario, an overlay, a profile and the configuration.

They are of draft 7, which every editor reads. The structs are strict. This file adds the short
forms of a file, and the names that depend on other values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import msgspec

from harness import providers
from harness.catalogue import INCIDENTS, ROWS
from harness.configuration import Configuration
from harness.core.scenario.scenario import (
    DEFAULT_WIRE,
    REPLY_WORDS,
    After,
    AtMs,
    Scenario,
)
from harness.core.scenario.script import BLOCKS
from harness.core.values.profile import Profile
from harness.schema.part_schema import check_definitions, either_form, fault_schema
from harness.schema.struct_schema import REFERENCE, Node, closed, definitions, key_text, ref, words

DRAFT = "http://json-schema.org/draft-07/schema#"
KEBAB = "^[a-z0-9]+(-[a-z0-9]+)*$"

_OUTCOMES = ("ok", "error", "raise", "hang", "bytes", "effect")
"""The keys of a tool's turn, of which it has at least one."""


def schema_of(file: str) -> Node:
    """Return the schema of a kind of file, one of FILES."""
    return FILES[file]()


def _document(title: str, root: Node, parts: dict[str, Node]) -> Node:
    found = {"$schema": DRAFT, **root, **words(title)}
    needed = _reachable(parts, root)
    return {**found, "definitions": {k: part for k, part in parts.items() if k in needed}}


def _scenario() -> Node:
    parts = _scenario_parts()
    scenario = parts.pop("Scenario")
    keys = scenario["properties"]
    for key, form in _forms().items():
        keys[key] = {**_kept(keys[key]), **form}
    changes = {k: v for k, v in keys.items() if k != "name"}
    parts["Changes"] = closed(changes)
    named = {"pattern": KEBAB, "not": {"const": "baseline"}}
    keys["variants"] = {
        "type": "object",
        "propertyNames": named,
        "additionalProperties": ref("Changes"),
        **words(key_text("Scenario", "variants")),
    }
    root = closed(keys, required=["script"], allOf=_dialects())
    return _document("A scenario of loop-harness", root, parts)


def _scenario_parts() -> dict[str, Node]:
    from harness.stores import readers

    parts = definitions([Scenario, AtMs, After, *BLOCKS.values()])
    when = parts["InboxItem"]["properties"]["when"]
    words = [option for option in when["anyOf"] if "enum" in option]
    _set(parts, "InboxItem", "when", {"anyOf": [*words, ref("AtMs"), ref("After")]})
    _set(parts, "Turn", "blocks", {"items": ref("Block")})
    _set(parts, "Session", "format", {"enum": [*readers(), None]})
    content = {"anyOf": [{"type": "string"}, {"type": "array", "items": ref("Block")}]}
    _set(parts, "SeedMessage", "content", content)
    _set(parts, "Expect", "must", {"items": ref("CheckName")})
    _set(parts, "Expect", "known", {"items": ref("Code")})
    parts["Turn"]["dependencies"] = {"input": ["use"]}
    parts["ToolTurn"]["anyOf"] = [{"required": [key]} for key in _OUTCOMES]
    parts["RequestText"]["anyOf"] = [{"required": ["has"]}, {"required": ["lacks"]}]
    parts["ExpectReply"]["anyOf"] = [{"required": [word]} for word in REPLY_WORDS]
    parts["When"]["oneOf"] = [{"required": ["after"]}, {"required": ["p"]}]
    parts["Block"] = _block()
    parts["ToolUse"]["required"].remove("id")
    parts["FaultSpec"] = fault_schema(parts["FaultSpec"])
    return {**parts, **check_definitions()}


def _set(parts: dict[str, Node], struct: str, key: str, form: Node) -> None:
    """Set the schema of a key, in place of the struct's."""
    node = parts[struct]["properties"][key]
    kept = _kept(node)
    if "items" in form:
        kept["type"] = "array"
    parts[struct]["properties"][key] = {**kept, **form}


def _kept(node: Node) -> Node:
    """Return the parts of a key that stay when its values are replaced: text and default."""
    return {k: v for k, v in node.items() if k == "default" or k.lower().endswith("description")}


def _block() -> Node:
    """Return the schema of a block: a known type, or any other type with any fields."""
    kinds = [*BLOCKS]
    known = [
        {"if": {"properties": {"type": {"const": kind}}}, "then": ref(struct.__name__)}
        for kind, struct in BLOCKS.items()
    ]
    told = f"The type of the block: {', '.join(f'`{kind}`' for kind in kinds)}, or any other."
    kind = {"type": "string", "examples": kinds, **words(told)}
    return {"type": "object", "properties": {"type": kind}, "required": ["type"], "allOf": known}


def _forms() -> dict[str, Node]:
    """Return the keys whose form in a file differs from the struct: short forms, names."""
    wire = {"enum": [*providers.names()]}
    text = {"type": "string"}
    several = {"type": "array", "items": wire, "minItems": 1, "uniqueItems": True}
    return {
        "name": {"type": "string", "pattern": KEBAB},
        "stream": {"enum": [True, False, "both"], "default": False},
        "wire": {"anyOf": [wire, several], "default": DEFAULT_WIRE},
        "dialect": _dialect([n for record in providers.records() for n in record.dialects.names]),
        "source": {"type": "array", "items": {"type": "string", "pattern": _sources()}},
        "inbox": {"anyOf": [text, {"type": "array", "items": {"anyOf": [text, ref("InboxItem")]}}]},
        "checks": either_form(),
    }


def _sources() -> str:
    """Return the schema of a source: an existing incident or fault row, or any other text."""
    rows = "|".join(re.escape(code) for code in ROWS)
    numbers = "|".join(str(number) for number in INCIDENTS)
    known = f"incidents:({numbers})|fault:({rows})"
    return f"^({known})$|^(?!incidents:|fault:)"


def _dialect(names: Sequence[str]) -> Node:
    return {"enum": ["", *dict.fromkeys(names)], **words(key_text("Scenario", "dialect"))}


def _dialects() -> list[Node]:
    """Return the condition that limits dialects to the file's wire, if it has one wire."""
    return [
        {
            "if": {
                "properties": {"wire": {"const": record.name}},
                **({} if record.name == DEFAULT_WIRE else {"required": ["wire"]}),
            },
            "then": {"properties": {"dialect": _dialect(record.dialects.names)}},
        }
        for record in providers.records()
    ]


def _overlay() -> Node:
    parts = _scenario_parts()
    faults = {"type": "array", "items": ref("FaultSpec"), **words(key_text("Overlay", "faults"))}
    root = closed({"faults": faults}, required=["faults"])
    return _document("An overlay of faults for loop-harness", root, parts)


def _of_struct(struct: type[msgspec.Struct], title: str) -> Node:
    """Return the schema of a profile, or of a file that holds profiles."""
    parts = definitions([struct])
    _set(parts, "Profile", "wires", {"items": {"enum": [*providers.names()]}})
    _set(parts, "Profile", "checks", ref("CheckSettings"))
    return _document(title, parts.pop(struct.__name__), {**parts, **check_definitions()})


def _reachable(parts: dict[str, Node], root: Node) -> set[str]:
    """Return the definitions that a schema needs."""
    wanted, open_ = set[str](), [*_named_in(root)]
    while open_:
        name = open_.pop()
        if name not in wanted:
            wanted.add(name)
            open_ += _named_in(parts[name])
    return wanted


def _named_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(target := node.get("$ref"), str):
            yield target.removeprefix(REFERENCE)
        for child in node.values():
            yield from _named_in(child)
    elif isinstance(node, list):
        for child in node:
            yield from _named_in(child)


FILES: MappingProxyType[str, Callable[[], Node]] = MappingProxyType(
    {
        "scenario": _scenario,
        "overlay": _overlay,
        "profile": partial(_of_struct, Profile, "A profile of loop-harness"),
        "configuration": partial(
            _of_struct, Configuration, "The configuration of loop-harness (harness.toml)"
        ),
    }
)
"""The kinds of files that have a schema."""

_PASSED = ("Changes", "CheckSettings", "CheckName", "Code")


class FileKey(msgspec.Struct, frozen=True):
    """A key of a kind of file: its path, and its schema."""

    file: str
    path: str
    node: Node


@cache
def file_keys() -> dict[str, list[FileKey]]:
    """Return the keys by path; a key of several kinds of files is there several times."""
    found: dict[str, list[FileKey]] = {}
    for file in FILES:
        document = schema_of(file)
        for key in _keys(file, document, document["definitions"], "", ()):
            found.setdefault(key.path, []).append(key)
    return found


def _keys(
    file: str, node: Node, parts: dict[str, Node], prefix: str, above: tuple[str, ...]
) -> Iterator[FileKey]:
    """Yield the keys of a mapping and of nested ones; a definition is not followed into itself."""
    for key, value in node.get("properties", {}).items():
        path = f"{prefix}{key}"
        yield FileKey(file, path, value)
        for name in _held(value):
            if name not in above and name not in _PASSED:
                yield from _keys(file, parts[name], parts, f"{path}.", (*above, name))


def _held(node: Node) -> Iterator[str]:
    """Yield the definitions of a value, or of its items."""
    if "$ref" in node:
        yield str(node["$ref"]).removeprefix(REFERENCE)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _held(node[key])
    for option in node.get("anyOf", ()):
        yield from _held(option)
