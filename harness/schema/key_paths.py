"""The keys of the files by path, such as `limits.model_calls` or `script.say`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec

from harness.schema.json_schema import FILES, schema_of
from harness.schema.struct_schema import REFERENCE, Node

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
