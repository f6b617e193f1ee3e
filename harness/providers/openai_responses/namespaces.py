"""Functions in a namespace: `{"type": "namespace", "name": "mcp__files", "tools": [...]}`.

A call of one has the fields `name` and `namespace`. Here it is one name, as `mcp__files__read`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.core.values.messages import Json, ToolSpec
from harness.providers.shared import json_fields as f

_BETWEEN = "__"


def whole_name(item: Mapping[str, Json]) -> str:
    """The one name of a function or of a call of it."""
    name, namespace = f.text(item.get("name")), f.text(item.get("namespace"))
    return f"{namespace}{_BETWEEN}{name}" if namespace else name


def functions_in(tools: Json) -> Iterator[tuple[str, ToolSpec]]:
    """The functions of all namespaces, each with the name of its namespace."""
    for tool in f.objects(tools):
        if tool.get("type") == "namespace":
            namespace = f.text(tool.get("name"))
            for inner in f.objects(tool.get("tools")):
                yield (
                    namespace,
                    f.tool({**inner, "name": whole_name({**inner, "namespace": namespace})}),
                )


def in_parts(items: list[dict[str, Json]], tools: Json) -> list[dict[str, Json]]:
    """The items of an answer, the calls of functions in namespaces with both fields."""
    homes = {tool.name: namespace for namespace, tool in functions_in(tools)}
    return [_parted(item, homes.get(f.text(item.get("name")), "")) for item in items]


def _parted(item: dict[str, Json], namespace: str) -> dict[str, Json]:
    if not namespace or item.get("type") != "function_call":
        return item
    name = f.text(item["name"]).removeprefix(namespace + _BETWEEN)
    return {**item, "name": name, "namespace": namespace}
