"""The fields of a request beside its input: what they mean, what they must be, what they break."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.openai_responses.namespaces import functions_in
from harness.providers.openai_responses.record import (
    LEAST_OUTPUT_TOKENS,
    NAME_CHARACTERS,
    NAME_PATTERN,
    violation,
)
from harness.providers.openai_responses.validator import wrong_type
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.openai import (
    COUNT,
    FLAG,
    LIST,
    TEXT,
    ModelFault,
    field_reader,
    model_faults,
)
from harness.providers.shared.reader import FieldMemory, Fields, RequestFields, value_of
from harness.providers.shared.unoffered import says_missing

_NAME = re.compile(NAME_PATTERN)
_WANTED = {
    "model": TEXT,
    "instructions": TEXT,
    "tools": LIST,
    "max_output_tokens": COUNT,
    "stream": FLAG,
    "store": FLAG,
    "previous_response_id": TEXT,
    "truncation": TEXT,
}
_NAMED = frozenset({"model", "instructions", "max_output_tokens", "stream", "tools"})
"""The fields that have their own place in a reading; all others are settings."""


class ResponsesFields(RequestFields, frozen=True, gc=False):
    """What the fields say together, with what says where the request goes on from.

    Tools that are not functions are among the `settings`.
    """

    stores: bool = True
    truncates: bool = False
    previous: str = ""
    conversation: str = ""
    has_prompt: bool = False


def field_memory() -> FieldMemory[ResponsesFields]:
    """The fields of one session."""
    return FieldMemory(field_reader(_WANTED), _said)


def _said(fields: Fields) -> ResponsesFields:
    tools = value_of(fields, "tools", [])
    functions = [tool for tool in tools if _is_function(tool)]
    others = [tool for tool in tools if not _is_function(tool)]
    settings = {name: _sent(fields, name) for name in fields if name not in _NAMED}
    large = [value for n in ("instructions", "tools") if (value := value_of(fields, n))]
    return ResponsesFields(
        model=value_of(fields, "model", ""),
        system=value_of(fields, "instructions", ""),
        tools=(*map(f.tool, functions), *(tool for _, tool in functions_in(others))),
        tools_offered=bool(tools) and value_of(fields, "tool_choice") != "none",
        max_tokens=value_of(fields, "max_output_tokens"),
        stream=value_of(fields, "stream", False),
        size_bytes=sum(map(size_bytes, large)),
        violations=tuple(_violations(fields)),
        settings={**settings, **({"tools": others} if others else {})},
        stores=value_of(fields, "store", True),
        truncates=value_of(fields, "truncation") == "auto",
        previous=value_of(fields, "previous_response_id", ""),
        conversation=_conversation(value_of(fields, "conversation")),
        has_prompt=value_of(fields, "prompt") is not None,
    )


def _sent(fields: Fields, name: str) -> Json:
    field = fields.get(name)
    if field is None:
        return None
    return msgspec.json.decode(field.raw) if field.wanted else field.value


def _is_function(tool: Json) -> bool:
    tool = f.mapping(tool)
    return tool.get("type") == "function" and isinstance(tool.get("name"), str)


def _conversation(value: Json) -> str:
    name = value.get("id") if isinstance(value, dict) else value
    return name if isinstance(name, str) else ""


def _violations(fields: Fields) -> Iterator[Violation]:
    if _sent(fields, "model") is None and _sent(fields, "prompt") is None:
        yield violation("R9", path="model")
    for name, field in fields.items():
        if field.wanted:
            yield wrong_type(name, field.wanted, msgspec.json.decode(field.raw))
    yield from _tools(value_of(fields, "tools", []))
    most = value_of(fields, "max_output_tokens")
    if most is not None and most < LEAST_OUTPUT_TOKENS:
        yield violation("R14", least=LEAST_OUTPUT_TOKENS, got=most)
    if _sent(fields, "previous_response_id") and _sent(fields, "conversation"):
        yield violation("R16")
    yield from _of_the_model(fields)


def _of_the_model(fields: Fields) -> Iterator[Violation]:
    """The parameters and the schemas that the model does not take."""
    said = {name: value_of(fields, name) for name in fields}
    model = said.get("model") or ""
    if says_missing(model):
        yield violation("R29", model=model)
    tools = enumerate(f.listed(said.get("tools")))
    functions = ((n, tool) for n, tool in tools if _is_function(tool))
    form = f.mapping(f.mapping(said.get("text")).get("format"))
    for kind, values in model_faults("responses", said, functions, form):
        yield violation(_FAULTS[kind], **values)


_FAULTS: dict[ModelFault, str] = {
    "parameter": "R24", "value": "R25", "low": "R26", "high": "R26a",
    "function": "R27", "schema": "R28",
}  # fmt: skip


def _tools(tools: list[Json]) -> Iterator[Violation]:
    seen: set[str] = set()
    for n, tool in enumerate(tools):
        path = f"tools[{n}]"
        if not isinstance(tool, dict):
            yield wrong_type(path, "an object", tool)
        elif not isinstance(tool.get("type"), str):
            yield violation("R9", path=f"{path}.type")
        elif tool["type"] == "function":
            yield from _function(tool.get("name"), f"{path}.name", seen)


def _function(name: Json, path: str, seen: set[str]) -> Iterator[Violation]:
    if not isinstance(name, str):
        yield violation("R9", path=path) if name is None else wrong_type(path, "a string", name)
        return
    if not _NAME.match(name):
        yield violation("R10", path=path, pattern=NAME_PATTERN)
    if len(name) > NAME_CHARACTERS:
        yield violation("R11", path=path, most=NAME_CHARACTERS, got=len(name))
    if name in seen:
        yield violation("R12", name=name)
    seen.add(name)
