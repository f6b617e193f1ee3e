"""Messages of the AI SDK's user interface: a message holds the steps of a whole turn.

A step says something, calls tools, and has their results. Parts `step-start` divide steps. The
results follow their calls as a message of role `tool`, as the SDK itself sends them to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.core.values.messages import Block, Json, Message, Opaque, ToolResult
from harness.providers.openai_chat.framework_calls import TEXTS, call_from_record, call_id
from harness.providers.shared import json_fields as f

_Read = Callable[[Json, str], Block]


def is_ui_message(row: dict[str, Json]) -> bool:
    """Whether an assistant's message holds calls together with what became of them."""
    parts = (*f.objects(row.get("parts")), *f.objects(row.get("toolInvocations")))
    return row.get("role") == "assistant" and any(_invocation(part) for part in parts)


def steps(row: dict[str, Json], read: _Read) -> Iterator[Message]:
    """The messages of each step; `read` reads a part that is not a call."""
    said: list[Block] = []
    results: list[ToolResult] = []
    for part in filter(_says, _parts(row)):
        invocation = _invocation(part)
        if f.mapping(part).get("type") == "step-start" or (results and not invocation):
            yield from one_step(said, results)
            said, results = [], []
        if invocation:
            said.append(_call(invocation))
            results += _result(invocation)
        elif f.mapping(part).get("type") != "step-start":
            said.append(read(part, "assistant"))
    yield from one_step(said, results)


def _parts(row: dict[str, Json]) -> list[Json]:
    """The parts; older messages have their text and their calls in two fields."""
    parts = f.listed(row.get("parts"))
    if any(_invocation(f.mapping(part)) for part in parts):
        return parts
    text = row.get("content")
    return [*([text] if f.text(text) else []), *f.objects(row.get("toolInvocations"))]


def _says(part: Json) -> bool:
    """Whether a part is more than a text that was begun and stayed empty."""
    said = f.mapping(part).get("text") if isinstance(part, dict) else part
    return not (isinstance(said, str) and said == "")


def one_step(said: list[Block], results: list[ToolResult]) -> Iterator[Message]:
    """The messages of a step: what the assistant said, and the results of its calls."""
    if said:
        yield Message("assistant", tuple(said))
    if results:
        yield Message("tool", tuple(results))


def _invocation(part: Json) -> dict[str, Json]:
    """The call that a part is, with its tool's name and its state; empty for any other part."""
    part = f.mapping(part)
    kind = f.text(part.get("type"))
    inner = f.mapping(part.get("toolInvocation")) if kind == "tool-invocation" else part
    is_call = kind.startswith("tool-") or kind == "dynamic-tool" or "toolName" in part
    if not (is_call and f.text(inner.get("state"))):
        return {}
    named = "toolName" in inner or kind in ("dynamic-tool", "tool-invocation")
    return inner if named else {**inner, "toolName": kind.removeprefix("tool-")}


def _call(invocation: dict[str, Json]) -> Block:
    if invocation.get("providerExecuted") is True:
        return Opaque("server_tool_use", invocation)
    outcome = ("output", "result", "errorText", "rawInput", "approval", "step", "preliminary")
    call = {name: part for name, part in invocation.items() if name not in outcome}
    if "rawInput" in invocation and call.get("input") is None:
        call["input"] = invocation["rawInput"]
    return call_from_record(call)


def _result(invocation: dict[str, Json]) -> Iterator[ToolResult]:
    """The result of a call that has one."""
    if invocation.get("providerExecuted") is True:
        return
    match invocation.get("state"):
        case "output-available" | "result":
            given = invocation.get("output", invocation.get("result"))
            yield ToolResult(call_id(invocation), f.result_content(given, TEXTS))
        case "output-error":
            yield ToolResult(call_id(invocation), f.as_text(invocation.get("errorText")), True)
        case "output-denied":
            why = f.text(f.mapping(invocation.get("approval")).get("reason")) or "denied"
            yield ToolResult(call_id(invocation), why, True)
