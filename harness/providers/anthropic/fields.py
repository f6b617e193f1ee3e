"""The fields of a request beside its messages: meaning, types and rules.

The dialect decides which of these rules are on. Not every model takes every parameter: effort,
sampling, the schema of a structured output. `efforts.tsv` has the levels of effort: the first row
whose models fit counts. A model of unknown name takes every level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.anthropic.blocks import marks_in
from harness.providers.anthropic.models import Model, fits, model
from harness.providers.anthropic.record import violation
from harness.providers.shared import json_fields as f
from harness.providers.shared.codec import size_bytes
from harness.providers.shared.reader import Field, FieldMemory, Fields, RequestFields, value_of
from harness.providers.shared.rules import table_rows
from harness.providers.shared.unoffered import says_missing

_LETTERS = re.compile(r"[a-zA-Z0-9_-]+")
NAME_MAX, NAME_MAX_OLD = 128, 64
BUDGET_MIN = 1024


def _tool_names(tools: Json) -> Iterator[Violation]:
    """The provider's own tools have fixed names or none; they count only as doubles (V22)."""
    names: list[str] = []
    for n, tool in enumerate(tools):
        name = tool.get("name")
        if name is not None:
            names.append(name)
        if tool.get("type") not in (None, "custom"):
            continue
        if name is None:
            yield violation("V32", path=f"tools.{n}.custom.name")
            continue
        sound = _LETTERS.fullmatch(name)
        if not sound:
            yield violation("V21", n=n)
        elif len(name) > NAME_MAX:
            yield violation("V21a", n=n)
        if not sound or len(name) > NAME_MAX_OLD:
            yield violation("V21b", n=n)
    if len(set(names)) < len(names):
        yield violation("V22")


def _together(fields: Fields) -> Iterator[Violation]:
    thinking, tool_choice = value_of(fields, "thinking"), value_of(fields, "tool_choice")
    max_tokens = value_of(fields, "max_tokens")
    if thinking is None and tool_choice is None and max_tokens is None:
        return
    it = model(value_of(fields, "model", ""))
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if isinstance(kind, str):
        yield from _thinking_rules(it, kind, thinking.get("budget_tokens"), max_tokens)
    if isinstance(tool_choice, dict) and tool_choice.get("type") in ("any", "tool"):
        if it.always_thinks:
            yield violation("V20")
        elif kind == "enabled":
            yield violation("V20a")
    if it.known and max_tokens is not None and max_tokens > it.max_tokens:
        yield violation("V25", tokens=max_tokens, most=it.max_tokens, model=it.id)


_UNSUPPORTED = {"enabled": "V19", "adaptive": "V19a", "disabled": "V19b"}


def _thinking_rules(
    it: Model, kind: str, budget: Json, max_tokens: int | None
) -> Iterator[Violation]:
    if kind in _UNSUPPORTED and not it.thinks(kind):
        yield violation(_UNSUPPORTED[kind])
    elif kind == "enabled" and isinstance(budget, int):
        if budget < BUDGET_MIN:
            yield violation("V19c")
        elif max_tokens is not None and budget >= max_tokens:
            yield violation("V19d")


class AnthropicFields(RequestFields, frozen=True, gc=False):
    """What the fields say together, with what only this API asks of them.

    `violations` are fields that are missing (V32), of the wrong type (V35), or that do not go
    together. `marks` counts the cache marks in them.
    """

    marks: int = 0


def field_memory(active: frozenset[str] = frozenset()) -> FieldMemory[AnthropicFields]:
    """The fields of one session, judged by the rules that are `active`."""
    return FieldMemory(_read, lambda fields: _said(fields, active))


def _said(fields: Fields, active: frozenset[str]) -> AnthropicFields:
    tools, choice = value_of(fields, "tools", ()), value_of(fields, "tool_choice")
    is_barred = isinstance(choice, dict) and choice.get("type") == "none"
    return AnthropicFields(
        model=value_of(fields, "model", ""),
        max_tokens=value_of(fields, "max_tokens"),
        stream=value_of(fields, "stream", False),
        system=value_of(fields, "system", ""),
        tools=tools,
        tools_offered=bool(tools) and not is_barred,
        size_bytes=sum(field.size for field in fields.values()),
        violations=tuple(_violations(fields, active)),
        settings={n: field.value for n, field in fields.items() if n not in _READ},
        marks=sum(field.marks for field in fields.values()),
        purpose="compact" if value_of(fields, "compaction") is not None else "",
    )


def _violations(fields: Fields, active: frozenset[str]) -> Iterator[Violation]:
    for name in ("model", "max_tokens"):
        if name not in fields:
            yield violation("V32", path=name)
    found: list[Violation] = []
    for name, field in fields.items():
        if field.wanted:
            yield violation("V35", path=name, wanted=field.wanted)
        found += field.found
    found += _together(fields)
    model = value_of(fields, "model", "")
    if not _is_offered(model):
        found.append(violation("V40", model=model))
    if not _MODEL_PARAMETERS.isdisjoint(fields):
        said = {name: _sent(field) for name, field in fields.items() if name in _MODEL_PARAMETERS}
        found += _parameter_violations(said, model)
    yield from (v for v in found if v.rule in active)


_MODEL_PARAMETERS = frozenset(
    {"output_config", "output_format", "temperature", "top_k", "top_p", "thinking", "tools"}
)


def _sent(field: Field) -> Json:
    """The value as it was sent: a tool has more than the reading has a name for."""
    return msgspec.json.decode(field.raw)


def _read(name: str, raw: bytes) -> Field:
    value = whole = msgspec.json.decode(raw)
    if name not in _READ:
        return Field(raw, value, marks=int(name == "cache_control" and value is not None))
    read, wanted = _READ[name]
    try:
        value = read(value)
    except msgspec.ValidationError:
        return Field(raw, None, wanted=wanted)
    if name not in ("system", "tools") or not value:
        return Field(raw, value)
    found = tuple(_tool_names(whole)) if name == "tools" else ()
    return Field(raw, value, size_bytes(value), marks=marks_in(whole), found=found)


def _system(value: Json) -> str:
    if isinstance(value, str):
        return value
    blocks = msgspec.convert(value, list[dict[str, Json]])
    texts = (block.get("text") for block in blocks)
    return "\n".join(text for text in texts if isinstance(text, str))


class _Tool(msgspec.Struct):
    name: str = ""
    description: str = ""
    input_schema: dict[str, Json] = {}


def _tools(value: Json) -> tuple[ToolSpec, ...]:
    tools = msgspec.convert(value, list[_Tool])
    return tuple(ToolSpec(tool.name, tool.description, tool.input_schema) for tool in tools)


_READ: dict[str, tuple[Callable[[Json], Json], str]] = {
    "model": (lambda value: msgspec.convert(value, str), "a valid string"),
    "max_tokens": (lambda value: msgspec.convert(value, int), "a valid integer"),
    "stream": (lambda value: msgspec.convert(value, bool | None) or False, "a valid boolean"),
    "system": (_system, "a valid string"),
    "tools": (_tools, "a valid list"),
}


_EFFORTS = tuple(
    (row["models"], row["levels"].split()) for row in table_rows(__package__, "efforts.tsv")
)
_DISORDERED = re.compile(r"claude-[4-9]\d*(-\d+)?-[a-z]")
"""From 4 on the version comes behind the line: claude-haiku-4-5, and never claude-4-5-haiku."""

_SAMPLING = {"temperature": 1, "top_p": 1, "top_k": None}
"""Parameters of sampling, with the value that asks for nothing."""


def _is_offered(model: str) -> bool:
    """Whether a name may be that of a model; False where no model can have it."""
    return not says_missing(model) and _DISORDERED.match(model) is None


def _parameter_violations(said: Mapping[str, Json], model: str) -> Iterator[Violation]:
    """What these fields of a request break with the model of that name."""
    config = f.mapping(said.get("output_config"))
    if (level := config.get("effort")) is not None:
        yield from _effort(level, model)
    yield from _sampling(said)
    formats = (
        ("output_config.format", config.get("format")),
        ("output_format", said.get("output_format")),
    )
    for path, form in formats:
        if not all(map(_is_closed, _objects(f.mapping(form).get("schema")))):
            yield violation("V39", path=f"{path}.schema")
    for n, tool in enumerate(f.objects(said.get("tools"))):
        if tool.get("strict") is True and not all(
            map(_is_closed, _objects(tool.get("input_schema")))
        ):
            yield violation("V39", path=f"tools.{n}.custom")


def _effort(level: Json, model: str) -> Iterator[Violation]:
    levels = next((levels for models, levels in _EFFORTS if fits(models, model)), None)
    if levels == []:
        yield violation("V37a")
    elif levels and level not in levels:
        yield violation("V37", level=level, levels=", ".join(levels))


def _sampling(said: Mapping[str, Json]) -> Iterator[Violation]:
    given = [name for name, usual in _SAMPLING.items() if said.get(name) not in (None, usual)]
    yield from (violation("V38", name=name) for name in given)
    if said.get("temperature") is not None and said.get("top_p") is not None:
        yield violation("V38a")
    kind = f.mapping(said.get("thinking")).get("type")
    if "temperature" in given and kind in ("enabled", "adaptive"):
        yield violation("V38b")


_BELOW = ("properties", "$defs", "definitions")
_EITHER = ("anyOf", "allOf")


def _objects(schema: Json) -> Iterator[dict[str, Json]]:
    """The schemas of objects in a schema, itself too."""
    if not isinstance(schema, dict):
        return
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        yield schema
    inner = [part for name in _BELOW for part in f.mapping(schema.get(name)).values()]
    inner += [part for name in _EITHER for part in f.listed(schema.get(name))]
    for part in (*inner, schema.get("items")):
        yield from _objects(part)


def _is_closed(schema: dict[str, Json]) -> bool:
    return schema.get("additionalProperties") is False
