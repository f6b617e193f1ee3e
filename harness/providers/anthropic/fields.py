"""What the fields beside the messages break: names of tools, thinking and its budget, the cap.

Every rule is judged here; which of them count is up to the dialect.

MERGED: The fields of a request beside its messages: what they mean, and what they must be.

System prompt and tools are the same bytes in nearly every request of a run, so a field is decoded
again only when its bytes differ from those of the last request.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, ToolSpec
from harness.providers.anthropic.blocks import marks_in
from harness.providers.anthropic.models import Model, model
from harness.providers.anthropic.rules import violation
from harness.providers.shared.codec import size_bytes

_LETTERS = re.compile(r"[a-zA-Z0-9_-]+")
NAME_MAX, NAME_MAX_OLD = 128, 64
BUDGET_MIN = 1024


def tool_names(tools: Json) -> Iterator[Violation]:
    """Names of tools that are malformed, too long (V21) or double (V22).

    The provider's own tools have fixed names, or none; they count only against doubles.
    """
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


def together(
    model_name: str, max_tokens: int | None, thinking: Json, tool_choice: Json
) -> Iterator[Violation]:
    """What does not go together: the model, thinking, forced tools, the cap of the reply."""
    if thinking is None and tool_choice is None and max_tokens is None:
        return
    it = model(model_name)
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if isinstance(kind, str):
        yield from _thinking_rules(it, kind, thinking.get("budget_tokens"), max_tokens)
    if isinstance(tool_choice, dict) and tool_choice.get("type") in ("any", "tool"):
        if it.always_thinks:
            yield violation("V20")
        elif kind in ("enabled", "adaptive"):
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


class Field(msgspec.Struct, frozen=True):
    """A field's bytes, its value, and its part in the size of the prompt.

    `wanted` says what it should have been, "" when it is right; `marks` counts cache marks; `found`
    is what is wrong with the field by itself.
    """

    raw: bytes
    value: Json
    size: int = 0
    wanted: str = ""
    marks: int = 0
    found: tuple[Violation, ...] = ()


class AnthropicFields(msgspec.Struct, frozen=True, gc=False):
    """What the fields say together: their values, or the default of one missing or wrong.

    `settings` are the fields that have no place of their own (`temperature`, `tool_choice`, …).
    `tools_offered`: the model may call a tool. `size_bytes` is their part in the size of the
    prompt; `violations` are fields that are missing (V32), of the wrong type (V35), or that do not
    go together. `marks` counts the cache marks in them; `compacts`: the request asks for a summary.
    """

    model: str
    max_tokens: int | None
    stream: bool
    system: str
    tools: tuple[ToolSpec, ...]
    tools_offered: bool
    size_bytes: int
    violations: tuple[Violation, ...]
    settings: dict[str, Json]
    marks: int = 0
    compacts: bool = False


class Fields:
    """The fields of the last request of a session; `said` is what they say."""

    said: AnthropicFields

    def __init__(self, active: frozenset[str] = frozenset()) -> None:
        self._active = active
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

    def raws(self) -> dict[str, bytes]:
        """The fields of the last request as they were sent."""
        return {name: field.raw for name, field in self._fields.items()}

    def _said(self) -> AnthropicFields:
        tools = self._value("tools", ())
        return AnthropicFields(
            model=self._value("model", ""),
            max_tokens=self._value("max_tokens", None),
            stream=self._value("stream", False),
            system=self._value("system", ""),
            tools=tools,
            tools_offered=bool(tools) and not self._tools_barred(),
            size_bytes=sum(field.size for field in self._fields.values()),
            violations=tuple(self._violations()),
            settings={n: f.value for n, f in self._fields.items() if n not in _READ},
            marks=sum(field.marks for field in self._fields.values()),
            compacts=self._value("compaction", None) is not None,
        )

    def _value(self, name: str, default: Json) -> Json:
        field = self._fields.get(name)
        return default if field is None or field.wanted else field.value

    def _tools_barred(self) -> bool:
        choice = self._value("tool_choice", None)
        return isinstance(choice, dict) and choice.get("type") == "none"

    def _violations(self) -> Iterator[Violation]:
        for name in ("model", "max_tokens"):
            if name not in self._fields:
                yield violation("V32", path=name)
        found: list[Violation] = []
        for name, field in self._fields.items():
            if field.wanted:
                yield violation("V35", path=name, wanted=field.wanted)
            found += field.found
        found += together(self._value("model", ""), self._value("max_tokens", None), *self._modes())
        yield from (v for v in found if v.rule in self._active)

    def _modes(self) -> tuple[Json, Json]:
        return self._value("thinking", None), self._value("tool_choice", None)


def _read(name: str, raw: bytes) -> Field:
    value = whole = msgspec.json.decode(raw)
    read = _READ.get(name)
    if read is None:
        return Field(raw, value, marks=int(name == "cache_control" and value is not None))
    try:
        value = read(value)
    except msgspec.ValidationError:
        return Field(raw, None, wanted=_WANTED[name])
    if name not in ("system", "tools") or not value:
        return Field(raw, value)
    found = tuple(tool_names(whole)) if name == "tools" else ()
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


_READ: dict[str, Callable[[Json], Json]] = {
    "model": lambda value: msgspec.convert(value, str),
    "max_tokens": lambda value: msgspec.convert(value, int),
    "stream": lambda value: msgspec.convert(value, bool | None) or False,
    "system": _system,
    "tools": _tools,
}

_WANTED = {
    "model": "a valid string",
    "max_tokens": "a valid integer",
    "stream": "a valid boolean",
    "system": "a valid string",
    "tools": "a valid list",
}
