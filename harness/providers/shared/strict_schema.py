"""What is wrong with a JSON schema that the model is to follow strictly, in OpenAI's words.

Each object lists all its properties as required and permits no others, and each schema says its
type. The first thing that is wrong is told, outer schemas first.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Json
from harness.providers.shared import json_fields as f

_REQUIRED = (
    "'required' is required to be supplied and to be an array including every key in properties."
)
_CLOSED = "'additionalProperties' is required to be supplied and to be false."
_BELOW = ("properties", "$defs", "definitions")
Place = tuple[str, ...]


def schema_fault(schema: Json) -> str:
    """The first fault of a strict schema with its place, "" for a sound one."""
    return next((f"In context={place!r}, {fault}" for place, fault in _faults(schema, ())), "")


def parameters_fault(function: dict[str, Json]) -> str:
    """What is wrong with the parameters of a function, "" for nothing.

    They are an object; a tool without parameters has none.
    """
    schema = function.get("parameters")
    if not isinstance(schema, dict) or not schema:
        return ""
    if schema.get("type") != "object":
        kind = schema.get("type")
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    return schema_fault(schema) if function.get("strict") is True else ""


def _faults(schema: Json, place: Place) -> Iterator[tuple[Place, str]]:
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield from ((place, fault) for fault in _object_faults(schema))
    for name in _BELOW:
        for key, part in f.mapping(schema.get(name)).items():
            yield from _faults(part, (*place, name, key))
    yield from _faults(schema.get("items"), (*place, "items"))
    for n, part in enumerate(f.listed(schema.get("anyOf"))):
        yield from _faults(part, (*place, "anyOf", str(n)))


def _object_faults(schema: dict[str, Json]) -> Iterator[str]:
    if schema.get("additionalProperties") is not False:
        yield _CLOSED
    named, required = f.mapping(schema.get("properties")), schema.get("required")
    missing = [name for name in named if name not in f.listed(required)]
    if missing:
        yield f"{_REQUIRED} Missing '{missing[0]}'."
    extra = [name for name in f.listed(required) if name not in named]
    if extra:
        yield f"{_REQUIRED} Extra required key '{extra[0]}' supplied."
