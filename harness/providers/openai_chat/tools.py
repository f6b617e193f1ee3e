"""The tools of a request: their specifications, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_chat.contents import name_violations
from harness.providers.openai_chat.json_types import type_name
from harness.providers.openai_chat.rules import violation

_KINDS = ("function", "custom")


def specs(tools: list[dict[str, Json]]) -> Iterator[ToolSpec]:
    """The tools that can be read; of a custom one the input is free text."""
    for tool in tools:
        said = _said(tool)
        if isinstance(said.get("name"), str):
            schema, about = said.get("parameters"), said.get("description")
            yield ToolSpec(
                said["name"],
                about if isinstance(about, str) else "",
                schema if isinstance(schema, dict) else {},
            )


def legacy_specs(functions: list[dict[str, Json]]) -> Iterator[ToolSpec]:
    """The tools of the field `functions`, which came before `tools`."""
    return specs([{"type": "function", "function": function} for function in functions])


def tool_violations(tools: list[dict[str, Json]]) -> Iterator[Violation]:
    """What the tools break, one after the other."""
    if not tools:
        yield violation("C13a", path="tools")
    names: set[str] = set()
    for m, tool in enumerate(tools):
        yield from _one(f"tools[{m}]", tool)
        name = _said(tool).get("name")
        if isinstance(name, str) and name in names:
            yield violation("C35")
        elif isinstance(name, str):
            names.add(name)


def _said(tool: dict[str, Json]) -> dict[str, Json]:
    said = tool.get(str(tool.get("type", "function")))
    return said if isinstance(said, dict) else {}


def _one(path: str, tool: dict[str, Json]) -> Iterator[Violation]:
    if "type" not in tool:
        yield violation("C12a", path=f"{path}.type")
    kind = tool.get("type", "function")
    if kind not in _KINDS:
        return
    said = tool.get(kind)
    if not isinstance(said, dict) or "name" not in said:
        yield violation("C12a", path=f"{path}.{kind}" + (".name" if said else ""))
    elif not isinstance(said["name"], str):
        got = type_name(said["name"])
        yield violation("C11a", path=f"{path}.{kind}.name", wanted="a string", got=got)
    else:
        yield from name_violations(f"{path}.{kind}.name", said["name"])
