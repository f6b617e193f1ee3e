"""Running tools: whatever a tool does, the model gets one result that can be stored and sent."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent.guards.empty_input import is_unparsed
from harness.agent.projection import NO_TEXT
from harness.agent.text import clean, clean_json
from harness.agent.window import clip
from harness.core.brief import Tool
from harness.core.messages import Json, Opaque, Text, ToolResult, ToolSpec, ToolUse, canonical

MAX_RESULT_CHARACTERS = 100_000


class Toolbox:
    """The tools of one agent."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.specs = tuple(ToolSpec(t.name, t.description, t.input_schema) for t in tools)

    def run(self, call: ToolUse) -> ToolResult:
        """The result of a call. A tool that raises, or does not exist, gives an error result."""
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools) or "none"
            return error_result(call, f"There is no tool {call.name!r}. The tools are: {names}.")
        if is_unparsed(call.input) or not isinstance(call.input, dict | None):
            return error_result(call, "Not run: the arguments were not one whole JSON object.")
        try:
            return ToolResult(call.id, content_of(tool.call(call.input or {}, id=call.id)))
        except Exception as error:
            return error_result(call, str(error) or type(error).__name__)


def error_result(call: ToolUse, text: str) -> ToolResult:
    """The error result of a call."""
    return ToolResult(call.id, content_of(text), is_error=True)


def content_of(value: Json) -> str | tuple[Text | Opaque, ...]:
    """What a tool returned, as the content of a result: never blank, clean, of bounded size."""
    match value:
        case bytes() | bytearray():
            return content_of(bytes(value).decode("utf-8", "replace"))
        case str():
            return clip(clean(value), MAX_RESULT_CHARACTERS) if value.strip() else NO_TEXT
        case list() | tuple():
            return tuple(_part(part) for part in value) or NO_TEXT
        case None:
            return NO_TEXT
    return content_of(_as_text(value))


def _part(value: Json) -> Text | Opaque:
    match value:
        case Text(text) | {"type": "text", "text": str(text)}:
            return Text(str(content_of(text)))
        case Opaque():
            return value
        case {"type": str(kind), **_rest}:
            return Opaque(kind, clean_json(value))
        case str() | bytes():
            return Text(str(content_of(value)))
    return Text(str(content_of(_as_text(value))))


def _as_text(value: Json) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError):
        return str(value)
