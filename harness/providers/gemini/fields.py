"""The fields of a request beside its contents: meaning, types and rules.

Fields come in camel case or with underscores. The model and the way to stream come from the
address. A schema under `parameters` is a message of the API, with fields of its own; one under
`parametersJsonSchema` is any JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.gemini.blocks import get, parts_in
from harness.providers.gemini.contents import FIELDS, known
from harness.providers.gemini.record import STREAMS, TABLE, violation
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import encode, size_bytes
from harness.providers.shared.reader import Field, FieldMemory, Fields, RequestFields, value_of
from harness.providers.shared.unoffered import says_missing

_NAMES = known(*FIELDS["request"])
_SCHEMA = known(*FIELDS["schema"])
_OWN = known("systemInstruction", "tools") | {"model", STREAMS}
"""The fields that the reading has a name for."""

_LISTS = known("tools", "safetySettings")
_FUNCTION_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_WANTED = {True: "type.googleapis.com/google.protobuf.ListValue", False: "object"}


def field_memory(active: frozenset[str]) -> FieldMemory[RequestFields]:
    """The fields of one session, judged by the rules that are `active`."""
    return FieldMemory(_read, lambda fields: _said(fields, active))


def _read(name: str, raw: bytes) -> Field:
    value = msgspec.json.decode(raw)
    if value is None or name not in _NAMES or name == "model":
        return Field(raw, value)
    is_list = name in _LISTS
    if is_list != isinstance(value, list) and not isinstance(value, (dict, str)):
        return Field(raw, None, wanted=_WANTED[is_list])
    return Field(raw, value)


def tools_in(value: Json) -> list[dict[str, Json]]:
    """The tools of a request; a single one may stand without a list."""
    return f.objects([value] if isinstance(value, dict) else value)


def declared(tools: Json) -> Iterator[ToolSpec]:
    """The functions that tools declare."""
    for tool in tools_in(tools):
        for function in f.objects(get(tool, "functionDeclarations")):
            schema = get(function, "parametersJsonSchema") or get(function, "parameters")
            yield f.tool({**function, "parameters": schema})


def system_of(value: Json) -> str:
    """The text of a system instruction."""
    parts = parts_in(f.mapping(value))
    return f.joined(f.text(part.get("text")) for part in f.objects(parts))


def _value(fields: Fields, name: str) -> Json:
    values = {n: value_of(fields, n) for n in known(name) if n in fields}
    return get(values, name)


def _said(fields: Fields, active: frozenset[str]) -> RequestFields:
    tools, system = _value(fields, "tools"), _value(fields, "systemInstruction")
    offered = tuple(declared(tools))
    config = f.mapping(_value(fields, "generationConfig"))
    model = f.text(value_of(fields, "model")).removeprefix("models/")
    broken = tuple(v for v in _violations(fields) if v.rule in active)
    size = (size_bytes(tools) if tools else 0) + (size_bytes(system) if system else 0)
    return RequestFields(
        model=model,
        system=system_of(system),
        tools=offered,
        tools_offered=bool(offered) and _mode(fields) != "NONE",
        max_tokens=f.whole(get(config, "maxOutputTokens")),
        stream=value_of(fields, STREAMS) is True,
        size_bytes=size,
        violations=TABLE.of_model(broken, model),
        settings={n: field.value for n, field in fields.items() if n not in _OWN},
    )


def _mode(fields: Fields) -> Json:
    calling = get(f.mapping(_value(fields, "toolConfig")), "functionCallingConfig")
    return f.mapping(calling).get("mode")


def _violations(fields: Fields) -> Iterator[Violation]:
    for name, field in fields.items():
        if field.wanted:
            value = encode(msgspec.json.decode(field.raw)).decode()
            yield violation("G15", path=name, wanted=field.wanted, value=value)
        elif name not in _NAMES and not name.startswith(":"):
            yield violation("G13a", name=name)
    model = f.text(value_of(fields, "model")).removeprefix("models/")
    if says_missing(model):
        yield violation("G33", model=model)
    tools = tools_in(_value(fields, "tools"))
    yield from _tools(tools)
    config = f.mapping(_value(fields, "toolConfig"))
    calling = get(config, "functionCallingConfig")
    if calling is not None and not any(declared(tools)):
        yield violation("G22")


def _tools(tools: list[dict[str, Json]]) -> Iterator[Violation]:
    names: set[str] = set()
    for n, tool in enumerate(tools):
        functions = f.objects(get(tool, "functionDeclarations"))
        if not any(value not in (None, []) for value in tool.values()):
            yield violation("G21", n=n)
        for m, function in enumerate(functions):
            name = function.get("name")
            if not isinstance(name, str) or not _FUNCTION_NAME.fullmatch(name):
                yield violation("G19", n=n, m=m)
            elif name in names:
                yield violation("G20", name=name)
            else:
                names.add(name)
            path = f"tools[{n}].function_declarations[{m}].parameters"
            yield from _schema(path, get(function, "parameters"))


def _schema(path: str, schema: Json) -> Iterator[Violation]:
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name not in _SCHEMA:
            yield violation("G13", name=name, path=path)
        elif name == "type" and isinstance(value, list):
            yield violation("G14", name=name, path=path)
    for number, part in enumerate(f.mapping(schema.get("properties")).values()):
        yield from _schema(f"{path}.properties[{number}].value", part)
    yield from _schema(f"{path}.items", schema.get("items"))
    for number, part in enumerate(f.listed(get(schema, "anyOf"))):
        yield from _schema(f"{path}.any_of[{number}]", part)
