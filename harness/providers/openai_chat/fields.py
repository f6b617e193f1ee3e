"""The fields of a request beside its messages: meaning, types and rules.

A null field counts as absent. Tools are functions, or custom ones with free text as input.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_chat.record import TABLE, violation
from harness.providers.openai_chat.validator import name_violations
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.openai import (
    COUNT,
    FLAG,
    OBJECTS,
    TEXT,
    ModelFault,
    field_reader,
    model_faults,
    type_name,
)
from harness.providers.shared.reader import FieldMemory, Fields, RequestFields, value_of
from harness.providers.shared.unoffered import says_missing

_KINDS = ("function", "custom")


def _specs(tools: list[dict[str, Json]]) -> Iterator[ToolSpec]:
    named = map(_said_of, tools)
    return (f.tool(said) for said in named if isinstance(said.get("name"), str))


def _tool_violations(tools: list[dict[str, Json]]) -> Iterator[Violation]:
    if not tools:
        yield violation("C13a", path="tools")
    names: set[str] = set()
    for m, tool in enumerate(tools):
        yield from _one(f"tools[{m}]", tool)
        name = _said_of(tool).get("name")
        if isinstance(name, str) and name in names:
            yield violation("C35")
        elif isinstance(name, str):
            names.add(name)


def _said_of(tool: dict[str, Json]) -> dict[str, Json]:
    return f.mapping(tool.get(str(tool.get("type", "function"))))


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
        kind_of_name = type_name(said["name"])
        yield violation("C11a", path=f"{path}.{kind}.name", wanted="a string", got=kind_of_name)
    else:
        yield from name_violations(f"{path}.{kind}.name", said["name"])


_WANTED = {
    "model": TEXT,
    "max_tokens": COUNT,
    "max_completion_tokens": COUNT,
    "stream": FLAG,
    "tools": OBJECTS,
    "functions": OBJECTS,
}
"""The fields that the reading has a name for; `functions` came before `tools`."""


def field_memory(active: frozenset[str]) -> FieldMemory[RequestFields]:
    """The fields of one session, judged by the rules that are `active`."""
    return FieldMemory(field_reader(_WANTED), lambda fields: _said(fields, active))


def _said(fields: Fields, active: frozenset[str]) -> RequestFields:
    tools, functions = value_of(fields, "tools") or [], value_of(fields, "functions") or []
    legacy = [{"type": "function", "function": function} for function in functions]
    offered = (*_specs(tools), *_specs(legacy))
    barred = "none" in (value_of(fields, "tool_choice"), value_of(fields, "function_call"))
    most = value_of(fields, "max_completion_tokens") or value_of(fields, "max_tokens")
    return RequestFields(
        model=value_of(fields, "model", ""),
        max_tokens=most,
        stream=value_of(fields, "stream", False),
        tools=offered,
        tools_offered=bool(offered) and not barred,
        size_bytes=size_bytes([tools, functions]) if offered else 0,
        violations=tuple(v for v in _violations(fields) if v.rule in active),
        settings={n: field.value for n, field in fields.items() if n not in _WANTED},
    )


def _violations(fields: Fields) -> Iterator[Violation]:
    if "model" not in fields:
        yield violation("C14")
    for name, field in fields.items():
        if field.wanted:
            got = type_name(msgspec.json.decode(field.raw))
            yield violation("C11", path=name, wanted=field.wanted, got=got)
    tools = value_of(fields, "tools")
    if tools is not None:
        yield from _tool_violations(tools)
    if not tools and value_of(fields, "tool_choice") is not None:
        yield violation("C20")
    if not value_of(fields, "stream") and value_of(fields, "stream_options") is not None:
        yield violation("C21")
    yield from _of_the_model(fields)


def _of_the_model(fields: Fields) -> Iterator[Violation]:
    """The endpoint, the parameters and the schemas that the model does not take."""
    said = {name: value_of(fields, name) for name in fields}
    model = said.get("model") or ""
    if says_missing(model):
        yield violation("C37", model=model)
    yield from (violation(rule) for rule in ("C25", "C25a") if TABLE.holds(rule, model))
    if said.get("web_search_options") is not None:
        yield violation("C24")
    tools = enumerate(said.get("tools") or ())
    functions = ((n, f.mapping(tool.get("function"))) for n, tool in tools)
    form = f.mapping(f.mapping(said.get("response_format")).get("json_schema"))
    for kind, values in model_faults("chat", said, functions, form):
        yield violation(_FAULTS[kind], **values)


_FAULTS: dict[ModelFault, str] = {
    "parameter": "C22", "value": "C23", "low": "C26", "high": "C26a",
    "function": "C27", "schema": "C28",
}  # fmt: skip
