"""The tools of a request: their specifications, and what is wrong with them.

MERGED: The fields of a request beside its messages: what they mean, and what they must be.

The tools are the same bytes in nearly every request of a run, so a field is decoded again only when
its bytes differ from those of the last request. A field that is null counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.openai_chat.rules import violation
from harness.providers.openai_chat.validator import name_violations
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.openai import type_name

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


class ChatFields(msgspec.Struct, frozen=True, gc=False):
    """What the fields say together: their values, or the default of one missing or wrong.

    `settings` are the fields that have no place of their own (`temperature`, `stream_options`, …).
    `tools_offered`: the model may call a tool. `size_bytes` is their part in the size of the
    prompt.
    """

    model: str
    max_tokens: int | None
    stream: bool
    tools: tuple[ToolSpec, ...]
    tools_offered: bool
    size_bytes: int
    violations: tuple[Violation, ...]
    settings: dict[str, Json]


class Field(msgspec.Struct, frozen=True):
    """A field's bytes and its value; `wanted` says what it should be, "" when it is right."""

    raw: bytes
    value: Json
    wanted: str = ""


class Fields:
    """The fields of the last request of a session; `said` is what they say."""

    said: ChatFields

    def __init__(self) -> None:
        self._fields: dict[str, Field] = {}
        self.take({})

    def take(self, raws: Mapping[str, bytes]) -> None:
        """Take in the fields of a request; raises ValueError when one is no JSON."""
        old = self._fields
        self._fields = {}
        self._fields = {
            name: old[name] if name in old and old[name].raw == raw else _read(name, raw)
            for name, raw in raws.items()
        }
        self.said = self._said()

    def _said(self) -> ChatFields:
        tools, functions = self._value("tools") or [], self._value("functions") or []
        offered = (*specs(tools), *legacy_specs(functions))
        size = size_bytes([tools, functions]) if offered else 0
        return ChatFields(
            model=self._value("model") or "",
            max_tokens=self._value("max_completion_tokens") or self._value("max_tokens"),
            stream=bool(self._value("stream")),
            tools=offered,
            tools_offered=bool(offered) and not self._tools_barred(),
            size_bytes=size,
            violations=tuple(self._violations()),
            settings={n: f.value for n, f in self._fields.items() if n not in _READ},
        )

    def _value(self, name: str) -> Json:
        field = self._fields.get(name)
        return None if field is None or field.wanted else field.value

    def _tools_barred(self) -> bool:
        return "none" in (self._value("tool_choice"), self._value("function_call"))

    def _violations(self) -> Iterator[Violation]:
        if not self._fields.get("model"):
            yield violation("C14")
        for name, field in self._fields.items():
            if field.wanted:
                got = type_name(msgspec.json.decode(field.raw))
                yield violation("C11", path=name, wanted=field.wanted, got=got)
        if self._value("tools") is not None:
            yield from tool_violations(self._value("tools"))
        if not self._value("tools") and self._value("tool_choice") is not None:
            yield violation("C20")
        if not self._value("stream") and self._value("stream_options") is not None:
            yield violation("C21")


def _read(name: str, raw: bytes) -> Field:
    value = msgspec.json.decode(raw)
    if value is None or name not in _READ or _READ[name][0](value):
        return Field(raw, value)
    return Field(raw, None, _READ[name][1])


def _is_objects(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_READ: dict[str, tuple[Callable[[Json], bool], str]] = {
    "model": (lambda value: isinstance(value, str), "a string"),
    "max_tokens": (_is_count, "an integer"),
    "max_completion_tokens": (_is_count, "an integer"),
    "stream": (lambda value: isinstance(value, bool), "a boolean"),
    "tools": (_is_objects, "an array of objects"),
    "functions": (_is_objects, "an array of objects"),
}
"""The fields that the reading has a name for: their test, and what they must be."""
