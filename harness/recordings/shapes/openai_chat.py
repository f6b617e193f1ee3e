"""OpenAI Chat Completions and the many that speak it, Cohere and Ollama among them.

Results are messages of role `tool` (or `function`, which has no ids). Arguments are a text that
may be no JSON; some gateways send the value itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Parsed
from harness.core.values.messages import Block, Json, Message, Opaque, Thinking, ToolResult, ToolUse
from harness.recordings.shapes import fields as f
from harness.recordings.shapes import sse
from harness.recordings.shapes.errors import error_of
from harness.recordings.shapes.openai_chat_stream import Assembly
from harness.recordings.transcripts import Asked

_TEXTS = {"text": "text", "": "text"}
_RESULT_ROLES = ("tool", "function")


def request(value: dict[str, Json]) -> Asked | None:
    """A request as messages; None when it has no list of them."""
    if not isinstance(value.get("messages"), list):
        return None
    declared = [f.mapping(t.get("function")) or t for t in f.objects(value.get("tools"))]
    limit = value.get("max_tokens") or value.get("max_completion_tokens")
    return Asked(
        messages=tuple(message(m) for m in f.objects(value["messages"])),
        tools=tuple(f.tool(t) for t in (*declared, *f.objects(value.get("functions")))),
        model=f.text(value.get("model")),
        max_tokens=f.whole(limit),
        stream=value.get("stream") is True,
    )


def message(value: dict[str, Json]) -> Message:
    """A message of a request or an answer."""
    role = f.text(value.get("role")) or "assistant"
    if role in _RESULT_ROLES:
        return Message(role, (_result(value),))
    return Message(role, tuple(_blocks(value)))


def _result(value: dict[str, Json]) -> ToolResult:
    content = f.result_content(value.get("content"), _TEXTS)
    error = value.get("error")
    if error and not content:
        content = error if isinstance(error, str) else _error_text(error)
    return ToolResult(
        f.text(value.get("tool_call_id")), content, bool(error) or value.get("is_error") is True
    )


def _error_text(error: Json) -> str:
    return f.text(f.mapping(error).get("message")) or f.json_text(error)


def _blocks(value: dict[str, Json]) -> Iterator[Block]:
    thought = f.text(value.get("reasoning_content")) or f.text(value.get("reasoning"))
    if thought:
        yield Thinking(thought)
    yield from f.blocks(value.get("content"), _TEXTS)
    if f.text(value.get("refusal")):
        yield Opaque("refusal", {"refusal": value["refusal"]})
    for call in f.objects(value.get("tool_calls")):
        yield _call(call)
    if isinstance(value.get("function_call"), dict):
        yield _call({"function": value["function_call"]})
    for run in f.objects(value.get("executed_tools")):
        yield Opaque("server_tool_use", run)


def _call(call: dict[str, Json]) -> ToolUse:
    said = f.mapping(call.get("function")) or f.mapping(call.get("custom"))
    given = said["arguments"] if "arguments" in said else said.get("input")
    return ToolUse(f.text(call.get("id")), f.text(said.get("name")), f.arguments(given))


def answer(body: bytes, content_type: str) -> Parsed:
    """An answer as a message."""
    if sse.is_stream(body, content_type):
        return _streamed(body)
    value = f.parse(body)
    if not isinstance(value, dict):
        return Parsed(None, complete=False)
    if (error := error_of(value)) is not None:
        return Parsed(None, error=error)
    choice = next(iter(f.objects(value.get("choices"))), value)
    said = choice.get("message")
    stop = choice.get("finish_reason") or choice.get("done_reason")
    read = message({"role": "assistant", **said}) if isinstance(said, dict) else None
    return Parsed(read, stop if isinstance(stop, str) else None, complete=read is not None)


def _streamed(body: bytes) -> Parsed:
    assembly, error = Assembly(), None
    for value in sse.values(body):
        error = error_of(value)
        if error is not None:
            break
        assembly.take(value)
    said = assembly.message()
    read = message(said) if said is not None else None
    return Parsed(read, assembly.stop, complete=bool(assembly.stop) and not error, error=error)
