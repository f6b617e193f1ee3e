"""The schema of structs: msgspec's, with the text of each key.

A value that may be null is one node, not a choice of two, so that an editor completes and explains
its plain type. `keys.tsv` and `settings.tsv` are the only source of the texts of keys and settings,
also for `harness explain` and the tables of the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import msgspec

from harness.core.scenario.scenario import OF_THE_COMMAND
from harness.core.values.table_file import table

Node = dict[str, Any]

REFERENCE = "#/definitions/"
NO_KEYS = {"Scenario": OF_THE_COMMAND, "FaultSpec": ("settings",)}
"""Fields of the structs that are not keys of a file."""

TAG = "The type of the block."


def words(text: str) -> Node:
    """Return a description, once as plain text and once as Markdown for editors that render it."""
    plain = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    marked = {"markdownDescription": plain} if "`" in plain else {}
    return {"description": plain, **marked}


def closed(keys: dict[str, Node], **more: Any) -> Node:
    """Return the schema of a mapping that has no other keys than these."""
    return {"type": "object", "properties": keys, "additionalProperties": False, **more}


def ref(name: str, **more: Any) -> Node:
    """Return a reference to a definition."""
    return {"$ref": f"{REFERENCE}{name}", **more}


def definitions(structs: Iterable[type[msgspec.Struct]]) -> dict[str, Node]:
    """Return the schemas of structs and of their nested structs, by name."""
    template = f"{REFERENCE}{{name}}"
    _, parts = msgspec.json.schema_components([*structs], ref_template=template)
    return {name: _worded(name, part) for name, part in parts.items()}


def schema_of_type(kind: Any) -> Node:
    """Return the schema of a plain type, such as that of a setting."""
    return simple(msgspec.json.schema(kind))


def _worded(name: str, part: Node) -> Node:
    """Return a struct's schema with the texts of its keys."""
    if "properties" not in part:
        return part
    keys = {
        key: {**simple(node), **words(TAG if _is_tag(node) else key_text(name, key))}
        for key, node in part["properties"].items()
        if key not in NO_KEYS.get(name, ())
    }
    found = {k: v for k, v in part.items() if k != "title" and (k != "required" or v)}
    head = words(part["description"].partition("\n\n")[0])
    return {**found, **head, "properties": keys, "additionalProperties": False}


def _is_tag(node: Node) -> bool:
    return set(node) == {"enum"} and len(node["enum"]) == 1


def simple(node: Node) -> Node:
    """Return a node without a null default; a choice of plain types becomes one list of types."""
    found = {k: v for k, v in node.items() if k != "default" or v is not None}
    options = found.pop("anyOf", None)
    if options is None:
        return found
    plain = [option["type"] for option in options if set(option) == {"type"}]
    (*others,) = (option for option in options if set(option) != {"type"})
    if not others:
        return {**found, "type": plain}
    if plain == ["null"] and len(others) == 1 and "$ref" not in others[0]:
        return {**found, **_or_null(others[0])}
    return {**found, "anyOf": options}


def _or_null(node: Node) -> Node:
    if "enum" in node:
        return {**node, "enum": [*node["enum"], None]}
    return {**node, "type": [node["type"], "null"]}


class KeyWords(msgspec.Struct, frozen=True):
    """The text of a key `STRUCT.key`.

    `type` and `default` are set only if the documentation differs from the struct. `see` is a
    section of the documentation with more.
    """

    key: str
    type: str = ""
    default: str = ""
    text: str = ""
    see: str = ""


class SettingWords(msgspec.Struct, frozen=True):
    """The text of a setting: of one fault or check (`http.status type`), or of all with a name."""

    setting: str
    text: str


KEYS: MappingProxyType[str, KeyWords] = table("harness.schema", "keys.tsv", KeyWords)
SETTINGS: MappingProxyType[str, SettingWords] = table(
    "harness.schema", "settings.tsv", SettingWords
)


def key_text(struct: str, key: str) -> str:
    """Return the text of a struct's key. Raises LookupError for a key without a row."""
    return KEYS[f"{struct}.{key}"].text


def setting_text(part: str, setting: str, docstring: str, is_own: bool) -> str:
    """Return the text of a setting of a fault or a check.

    Its own row comes first, and for a part of ours the row of all settings with this name. Without
    a row its text is the sentence of the docstring that names it.
    """
    row = SETTINGS.get(f"{part} {setting}") or (SETTINGS.get(setting) if is_own else None)
    if row is not None:
        return row.text
    sentences = re.split(r"(?<=[.;:])\s+", " ".join(docstring.split()))
    named = [sentence for sentence in sentences if f"`{setting}`" in sentence]
    return named[0] if named else f"A setting of {part}."
