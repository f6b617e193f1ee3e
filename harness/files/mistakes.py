"""What the strict decoder says, put into words for the writer of a file.

The decoder knows the path of a mistake and the wrong key, but not which key was meant; the schema
does, so the nearest right name is looked up along the path.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import inspect

from harness.core.values.errors import nearest

_PATH = re.compile(r" - at `\$?([^`]*)`\Z")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def explain(error: str, kind: type[Any]) -> tuple[str, list[str | int]]:
    """The mistake in words, and its path in the file.

    >>> explain("Expected `int`, got `str` - at `$.limits.model_calls`", object)
    ('key `model_calls`: expected `int`, got `str`', ['limits', 'model_calls'])
    """
    found = _PATH.search(error)
    path = _parts(found.group(1)) if found else []
    text = _PATH.sub("", error)
    unknown = _UNKNOWN.match(text)
    if unknown:
        name = unknown.group(1)
        return f"key `{name}`: unknown; {nearest(name, _keys(kind, path))}", [*path, name]
    what = text[0].lower() + text[1:]
    key = next((part for part in reversed(path) if isinstance(part, str)), None)
    return (f"key `{key}`: {what}" if key else what), path


def _parts(path: str) -> list[str | int]:
    parts: list[str | int] = []
    for name, index in _PART.findall(path):
        parts.append(name or (index if index == "..." else int(index)))
    return parts


def _keys(kind: type[Any], path: list[str | int]) -> set[str]:
    """The keys that are allowed at a path."""
    found = inspect.type_info(kind)
    for part in path:
        found = _step(found, part)
    structs = [t for t in _alternatives(found) if isinstance(t, inspect.StructType)]
    return {field.encode_name for struct in structs for field in struct.fields}


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


def _step(kind: inspect.Type, part: str | int) -> inspect.Type:
    for option in _alternatives(kind):
        if isinstance(option, inspect.StructType) and isinstance(part, str):
            for field in option.fields:
                if field.encode_name == part:
                    return field.type
        if isinstance(option, inspect.DictType):
            return option.value_type
        if isinstance(option, (inspect.VarTupleType, inspect.ListType)) and part != "...":
            return option.item_type
    return inspect.AnyType()
