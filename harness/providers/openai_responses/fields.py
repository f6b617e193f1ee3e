"""The fields of a request beside its input: what they mean, and what they must be.

Instructions and tools are the same bytes in nearly every request of a run, so fields are read again
only when their bytes differ from those of the last request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_responses.rules import (
    LEAST_OUTPUT_TOKENS,
    NAME_CHARACTERS,
    NAME_PATTERN,
    violation,
)
from harness.providers.openai_responses.validator import wrong_type
from harness.providers.shared.codec import size_bytes

_NAME = re.compile(NAME_PATTERN)
_TEXT, _FLAG = ("a string", str), ("a boolean", bool)
_TYPES: dict[str, tuple[str, type]] = {
    "model": _TEXT,
    "instructions": _TEXT,
    "tools": ("an array of objects", list),
    "max_output_tokens": ("an integer", int),
    "stream": _FLAG,
    "store": _FLAG,
    "previous_response_id": _TEXT,
    "truncation": _TEXT,
}
_NAMED = frozenset({"model", "instructions", "max_output_tokens", "stream"})
"""The fields that have a place of their own in a reading; all others are settings."""


class ResponsesFields(msgspec.Struct, frozen=True, gc=False):
    """What the fields say together: their values, or the default of one missing or wrong.

    `settings` are the fields that have no place of their own, tools that are no functions among
    them. `size_bytes` is their part in the size of the prompt.
    """

    model: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tools_offered: bool = False
    max_tokens: int | None = None
    stream: bool = False
    stores: bool = True
    truncates: bool = False
    previous: str = ""
    conversation: str = ""
    has_prompt: bool = False
    size_bytes: int = 0
    violations: tuple[Violation, ...] = ()
    settings: dict[str, Json] = {}


class Fields:
    """The fields of the last request of a session; `said` is what they say."""

    def __init__(self) -> None:
        self._raws: dict[str, bytes] | None = None
        self._values: dict[str, Json] = {}
        self.said = ResponsesFields()

    def take(self, raws: Mapping[str, bytes]) -> None:
        """Take in the fields of a request; raises ValueError when one is no JSON."""
        if raws == self._raws:
            return
        old, values = self._raws or {}, self._values
        new = {
            name: values[name] if old.get(name) == raw else msgspec.json.decode(raw)
            for name, raw in raws.items()
        }
        self._raws, self._values = dict(raws), new
        self.said = _said(new)


def _said(values: dict[str, Json]) -> ResponsesFields:
    found = [*_violations(values)]
    right = {n: v for n, v in values.items() if v is not None and _is_right(n, v)}
    tools = right.get("tools", [])
    functions = [tool for tool in tools if _is_function(tool)]
    settings = {name: value for name, value in values.items() if name not in _NAMED | {"tools"}}
    others = [tool for tool in tools if not _is_function(tool)]
    return ResponsesFields(
        model=right.get("model", ""),
        system=right.get("instructions", ""),
        tools=tuple(map(_tool, functions)),
        tools_offered=bool(tools) and values.get("tool_choice") != "none",
        max_tokens=right.get("max_output_tokens"),
        stream=right.get("stream", False),
        stores=right.get("store", True),
        truncates=right.get("truncation") == "auto",
        previous=right.get("previous_response_id", ""),
        conversation=_conversation(values.get("conversation")),
        has_prompt="prompt" in right,
        size_bytes=sum(size_bytes(right[n]) for n in ("instructions", "tools") if right.get(n)),
        violations=tuple(found),
        settings={**settings, **({"tools": others} if others else {})},
    )


def _is_right(name: str, value: Json) -> bool:
    _, wanted = _TYPES.get(name, ("", object))
    return isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))


def _is_function(tool: Json) -> bool:
    return (
        isinstance(tool, dict)
        and tool.get("type") == "function"
        and isinstance(tool.get("name"), str)
    )


def _tool(tool: dict[str, Json]) -> ToolSpec:
    description, schema = tool.get("description"), tool.get("parameters")
    return ToolSpec(
        tool["name"],
        description if isinstance(description, str) else "",
        schema if isinstance(schema, dict) else {},
    )


def _conversation(value: Json) -> str:
    name = value.get("id") if isinstance(value, dict) else value
    return name if isinstance(name, str) else ""


def _violations(values: dict[str, Json]) -> Iterator[Violation]:
    if values.get("model") is None:
        yield violation("R9", path="model")
    for name, value in values.items():
        if value is not None and not _is_right(name, value):
            yield wrong_type(name, _TYPES[name][0], value)
    if isinstance(tools := values.get("tools"), list):
        yield from _tools(tools)
    most = values.get("max_output_tokens")
    if isinstance(most, int) and not isinstance(most, bool) and most < LEAST_OUTPUT_TOKENS:
        yield violation("R14", least=LEAST_OUTPUT_TOKENS, got=most)
    if values.get("previous_response_id") and values.get("conversation"):
        yield violation("R16")


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
