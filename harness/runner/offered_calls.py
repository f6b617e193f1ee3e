"""Whether a scripted call fits the offer of a request: a tool of that name, its input schema.

A real model calls what it is offered. Applications have an answer for an unknown tool, and a test
with a spelling mistake in a tool's name would pass by that answer.
"""

from __future__ import annotations

import re
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
    # jsonschema costs 50 ms to import, and most scripts call no tool.
    from jsonschema import exceptions, validators
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    form = _lower_types(schema)
    kind: Any = validators.validator_for(form, default=validators.Draft202012Validator)
    try:
        kind.check_schema(form)
        # An empty registry: a `$ref` to an address is never fetched.
        error = exceptions.best_match(kind(form, registry=Registry()).iter_errors(value))
    except (exceptions.SchemaError, Unresolvable, RecursionError, re.error):
        return ""  # the provider refuses such a schema, or a rule of its dialect does not know it
    if error is None:
        return ""
    place = "" if error.json_path == "$" else f"{error.json_path}: "
    return place + str(error.message)[:_TOLD_MOST_CHARS]


def _lower_types(schema: Json) -> Any:
    """The schema with the types of JSON Schema: Gemini's own form writes `OBJECT`, `STRING`."""
    if isinstance(schema, (list, tuple)):
        return [_lower_types(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    lower = {name: _lower_types(part) for name, part in schema.items()}
    said = lower.get("type")
    return {**lower, "type": said.lower()} if isinstance(said, str) else lower
