"""Messages of recordings: those of this API, and those that agent frameworks write like them.

LangChain dumps carry `type` (`human`, `ai`) for the role, alone, around `data`, or as a constructor
with `kwargs`. Frameworks put calls and results among the parts of `content` or `parts`. A message
of the AI SDK's user interface holds whole steps: calls, their results, and what was said after.
Fields without a name in the core are left out, except the name of the speaker, which tells a group
chat.

A step of such a message says something, calls tools, and has their results. Parts `step-start`
divide steps. The results follow their calls as a message of role `tool`, as the SDK itself sends
them to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from harness.core.values.messages import (
    Block,
    Json,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from harness.core.values.table_file import pairs
from harness.providers.openai_chat.blocks import LEGACY, RESULT_ROLES
from harness.providers.openai_chat.framework_calls import (
    TEXTS,
    call_from_record,
    call_id,
    is_call_part,
    is_result_part,
    is_result_role,
    result_from_part,
    result_from_row,
)
from harness.providers.shared import json_fields as f

_ROLES = pairs(__package__, "framework_roles.tsv")
"""The roles by LangChain's types and classes."""

_RESULT_OF_PROVIDER = "server_tool_result"
_SAID = ("content", "tool_calls", "function_call", "parts")
_OF_ANTHROPIC = frozenset({"tool_use", "tool_result"})
_THOUGHTS = ("thinking", "reasoning", "text", "content")


def plain(value: dict[str, Json]) -> dict[str, Json]:
    """A message of a LangChain dump as a row with a role; any other message as it is."""
    if isinstance(value.get("role"), str):
        role = value["role"]
        if role in ("human", "ai"):
            return {**value, "role": _ROLES[role]}
        return {**value, "role": "tool"} if is_result_role(role) else value
    path, kind, inner = value.get("id"), f.text(value.get("type")), value
    if isinstance(path, list) and isinstance(value.get("kwargs"), dict):
        kind, inner = f.text(path[-1] if path else None), value["kwargs"]
    elif isinstance(value.get("data"), dict):
        inner = value["data"]
    return {**inner, "role": _ROLES[kind]} if kind in _ROLES else value


def is_message(value: dict[str, Json]) -> bool:
    """Whether an object is a message of a chat: it has a role and says something."""
    row = plain(value)
    return isinstance(row.get("role"), str) and any(name in row for name in _SAID)


def is_of_framework(value: dict[str, Json]) -> bool:
    """Whether a message has what the native messages of no other API have."""
    row = plain(value)
    if row is not value or f.listed(row.get("tool_calls")) or row.get("tool_call_id"):
        return True
    typed = any("type" in part for part in f.objects(row.get("parts")))
    parts = f.objects(row.get("content"))
    return typed or any(map(_is_own_part, parts))


def _is_own_part(part: dict[str, Json]) -> bool:
    """Whether a part is a call or a result, and not of Anthropic's kind."""
    told = is_call_part(part) or is_result_part(part)
    return "tool_type" in part or (told and part["type"] not in _OF_ANTHROPIC)


def recorded_messages(values: Iterable[dict[str, Json]]) -> Iterator[Message]:
    """Messages of a recording."""
    made = set[str]()
    for value in values:
        row = plain(value)
        named = f.text(row.get("id"))
        if named and named in made and f.text(row.get("role")) in RESULT_ROLES:
            row = {"tool_call_id": named, **row}  # tau2-bench names the call so
        if is_ui_message(row):
            yield from steps(row, _content)
        else:
            message = recorded_message(row)
            made.update([use.id for use in message.tool_uses])
            yield from _divided(message, made)


def _divided(message: Message, made: set[str]) -> Iterator[Message]:
    """The message; one of the assistant that holds results of the agent's calls is several.

    Some programs keep a whole step in one message (`tool_output` parts). A provider keeps the
    results of the tools that it ran itself in such a message too; `made` are the ids of the others.
    """
    if not any(_result_of_agent(block, made) for block in message.blocks):
        yield message
        return
    calls = {use.id: use for use in message.tool_uses if use.id}
    ahead = set[str]()  # calls that are listed behind their results
    said: list[Block] = []
    results: list[ToolResult] = []
    for block in message.blocks:
        result = _result_of_agent(block, made)
        if result is not None:
            if call := calls.pop(result.id, None):
                said.append(call)
                ahead.add(call.id)
            results.append(result)
        elif not (isinstance(block, ToolUse) and block.id in ahead):
            if results:
                yield from one_step(said, results)
                said, results = [], []
            if isinstance(block, ToolUse):
                calls.pop(block.id, None)
            said.append(block)
    yield from one_step(said, results)


def _result_of_agent(block: Block, made: set[str]) -> ToolResult | None:
    if not isinstance(block, Opaque) or block.kind != _RESULT_OF_PROVIDER or not made:
        return None
    result = result_from_part(block.value)
    return result if not result.id or result.id in made else None


def recorded_message(value: dict[str, Json]) -> Message:
    """A message of a recording that is no more than one."""
    row = plain(value)
    role = f.text(row.get("role")) or "assistant"
    if role in RESULT_ROLES:
        return Message(role, tuple(_results(row)))
    said, name = tuple(_blocks(row, role)), f.text(row.get("name"))
    return Message(role, (*said, Opaque("name", {"name": name})) if said and name else said)


def _results(row: dict[str, Json]) -> Iterator[ToolResult]:
    parts = [f.mapping(part) for part in _parts(row) if is_result_part(part)]
    yield from map(result_from_part, parts) if parts else (result_from_row(row),)


def _parts(row: dict[str, Json]) -> list[Json]:
    """The parts of a row, in `content` or else in `parts`."""
    return f.listed(row.get("content")) or f.listed(row.get("parts"))


def _blocks(row: dict[str, Json], role: str) -> Iterator[Block]:
    thought = f.text(row.get("reasoning_content")) or f.text(row.get("reasoning"))
    if thought:
        yield Thinking(thought)
    kept = _calls(row)
    calls, told = [call_from_record(call) for call in kept], {call_id(call) for call in kept}
    if isinstance(row.get("content"), str):
        yield from f.blocks(row["content"], {})
    for part in _parts(row):
        if not (is_call_part(part) and call_id(f.mapping(part)) in told):
            yield _content(part, role)
    if f.text(row.get("refusal")):
        yield Opaque("refusal", {"refusal": row["refusal"]})
    yield from calls
    if isinstance(row.get(LEGACY), dict):
        yield call_from_record({"function": row[LEGACY]})
    for run in f.objects(row.get("executed_tools")):
        yield Opaque("server_tool_use", run)


def _calls(row: dict[str, Json]) -> list[dict[str, Json]]:
    """The calls of a row: those that could be read, or else as the provider wrote them.

    A list may be kept as JSON text; what is not an object in it is a call without a name.
    """
    kept = f.listed(f.arguments(row.get("tool_calls"))) + f.objects(row.get("invalid_tool_calls"))
    read = [f.mapping(call) for call in kept]
    return read or f.objects(f.mapping(row.get("additional_kwargs")).get("tool_calls"))


def _content(part: Json, role: str) -> Block:
    """A part of a message's content as a block."""
    if isinstance(part, str):
        return Text(part)
    part = f.mapping(part)
    kind = f.text(part.get("type"))
    if is_call_part(part):
        return _call(kind, part)
    if is_result_part(part):
        by_provider = role == "assistant"
        return Opaque(_RESULT_OF_PROVIDER, part) if by_provider else result_from_part(part)
    if kind in ("text", ""):
        said = next((part[name] for name in ("text", "content") if name in part), None)
        return Text(said) if isinstance(said, str) else Opaque(kind, part)
    if kind in ("thinking", "reasoning"):
        thought = next((f.text(part[name]) for name in _THOUGHTS if f.text(part.get(name))), None)
        return Opaque(kind, part) if thought is None else Thinking(thought)
    return Opaque(kind, part)


def _call(kind: str, part: dict[str, Json]) -> Block:
    """A call among the parts; the provider itself ran those that it marks."""
    if part.get("providerExecuted") is True or "tool_type" in part:
        return Opaque("server_tool_use", part)
    return call_from_record(part)


_Read = Callable[[Json, str], Block]


def is_ui_message(row: dict[str, Json]) -> bool:
    """Whether an assistant's message holds calls together with what became of them."""
    if row.get("role") != "assistant":
        return False
    parts = (*f.objects(row.get("parts")), *f.objects(row.get("toolInvocations")))
    return any(map(_invocation, parts))


def steps(row: dict[str, Json], read: _Read) -> Iterator[Message]:
    """The messages of each step; `read` reads a part that is not a call."""
    said: list[Block] = []
    results: list[ToolResult] = []
    for part in filter(_says, _ui_parts(row)):
        invocation = _invocation(part)
        if f.mapping(part).get("type") == "step-start" or (results and not invocation):
            yield from one_step(said, results)
            said, results = [], []
        if invocation:
            said.append(_invoked(invocation))
            results += _result(invocation)
        elif f.mapping(part).get("type") != "step-start":
            said.append(read(part, "assistant"))
    yield from one_step(said, results)


def _ui_parts(row: dict[str, Json]) -> list[Json]:
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


def _invoked(invocation: dict[str, Json]) -> Block:
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
