"""Whether a call fits the tools that a request offers: their names, and their JSON Schemas.

A real model calls what it is offered. Only here a library reads schemas: an agent's schema may use
any of their words, and Gemini writes the types in capitals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.core.values.errors import nearest
from harness.core.values.messages import Json, ToolSpec, ToolUse

_TOLD_MOST_CHARS = 200


def misfit(call: ToolUse, offer: Sequence[ToolSpec]) -> str:
    """Why a request with these tools cannot be answered by this call; "" if it can."""
    found = next((tool for tool in offer if tool.name == call.name), None)
    if found is None and not offer:
        return f"the script calls {call.name!r}, and the request offers no tool"
    if found is None:
        near = nearest(call.name, (tool.name for tool in offer))
        return f"the script calls {call.name!r}, which the request does not offer; {near}"
    broken = _broken(call.input, found.input_schema)
    return broken and f"the script's input of {call.name!r} breaks the tool's schema: {broken}"


def _broken(value: Json, schema: dict[str, Json]) -> str:
    """What breaks the schema, with its place; "" for nothing, or a schema that cannot be read."""
    import jsonschema_rs  # here, because most scripts call no tool

    try:
        validator = jsonschema_rs.validator_for(_lower_types(schema), retriever=_unfetched)
        error = next(validator.iter_errors(value), None)
    except (ValueError, TypeError, RecursionError):
        # The provider refuses such a schema, or its dialect is one that we do not know. A value
        # that is not JSON ends here too.
        return ""
    if error is None:
        return ""
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path
    )
    return f"{place.removeprefix('.')}: ".removeprefix(": ") + error.message[:_TOLD_MOST_CHARS]


def _unfetched(address: str) -> Any:
    """No `$ref` is fetched: a test makes no request to the network."""
    raise ValueError(f"{address} is not fetched")


def _lower_types(schema: Json) -> Any:
    """The schema with the types of JSON Schema: Gemini's own form writes `OBJECT`, `STRING`."""
    if isinstance(schema, (list, tuple)):
        return [_lower_types(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    lower = {name: _lower_types(part) for name, part in schema.items()}
    said = lower.get("type")
    return {**lower, "type": said.lower()} if isinstance(said, str) else lower
