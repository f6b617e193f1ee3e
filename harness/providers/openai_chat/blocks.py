"""Messages and calls: the API's rows and the core's values, both ways.

A row of role `tool`, or legacy `function`, is a message with one result. `reasoning_content`, a
gateway field, is `Thinking`; other parts and fields are `Opaque`. Nulls, `cache_control`, a
result's `is_error` and a thought's signature are dropped. A call's `extra` keeps its other fields
and an unusual `type`. A custom call's input is free text; a legacy `function_call` has its name as
id. An unreadable call is `Opaque` of kind `tool_call`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

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
from harness.providers.shared.codec import (
    written_arguments_from,
    written_arguments_to,
)
from harness.providers.shared.reader import Malformed

CALL = "tool_call"
LEGACY = "function_call"
ARGUMENTS = {"function": "arguments", "custom": "input"}
"""The kinds of calls, and the field of each with what is given to the tool."""

TEXTS = ("reasoning_content", "content", "refusal")
"""The fields of a message that are text; a stream has them in pieces."""


def calls_from(value: dict[str, Json]) -> Iterator[Block]:
    """The calls of a message; a malformed list of them is kept as a field."""
    calls = value.get("tool_calls")
    if isinstance(calls, list) and calls and all(isinstance(call, dict) for call in calls):
        yield from map(call_from, calls)
    elif calls is not None:
        yield Opaque("tool_calls", {"tool_calls": calls})
    match value.get(LEGACY):
        case {"name": str(name), "arguments": str(text), **rest} if not rest:
            yield ToolUse(name, name, written_arguments_from(text), {"type": LEGACY})
        case None:
            return
        case other:
            yield Opaque(LEGACY, {LEGACY: other})


def call_from(call: dict[str, Json]) -> Block:
    """A call of a message."""
    match call:
        case {
            "id": str(id_),
            "function": {"name": str(name), "arguments": str(text), **inner},
            **rest,
        } if call.get("type", "function") == "function":
            extra = {k: v for k, v in rest.items() if k != "type"}
            extra |= {} if "type" in call else {"type": None}
            extra |= {"function": inner} if inner else {}
            return ToolUse(id_, name, written_arguments_from(text), extra)
        case {
            "id": str(id_),
            "type": "custom",
            "custom": {"name": str(name), "input": str(text), **inner},
            **rest,
        } if not inner and not rest:
            return ToolUse(id_, name, text, {"type": "custom"})
    return Opaque(CALL, call)


def is_call(block: Block) -> bool:
    """Whether a block is one of a message's `tool_calls`."""
    if isinstance(block, ToolUse):
        return block.extra.get("type") != LEGACY
    return isinstance(block, Opaque) and block.kind == CALL and block.value.get("type") != CALL


def call_to(block: Block) -> dict[str, Json]:
    """A call as the API has it."""
    if not isinstance(block, ToolUse):
        return block.value if isinstance(block, Opaque) else {}
    kind = block.extra.get("type", "function")
    said = {} if kind is None else {"type": kind}
    if kind == "custom":
        text = written_arguments_to(block.input)
        return {"id": block.id, **said, "custom": {"name": block.name, "input": text}}
    rest = {k: v for k, v in block.extra.items() if k not in ("type", "function")}
    return {"id": block.id, **said, "function": function_to(block), **rest}


def function_to(block: ToolUse) -> dict[str, Json]:
    """The function that a call names: its name and arguments."""
    inner = block.extra.get("function")
    more = inner if isinstance(inner, dict) else {}
    return {"name": block.name, "arguments": written_arguments_to(block.input), **more}


RESULT_ROLES = {"tool": "tool_call_id", "function": "name"}
"""The roles of results, and the field that names the call."""

_SAID = frozenset({"role", "content", "tool_calls", LEGACY})


def message_from(value: Json) -> Message:
    """A row as a message; raises Malformed when it is not an object or has no role."""
    if not isinstance(value, dict):
        raise Malformed("", value, "an object")
    role = value.get("role")
    if not isinstance(role, str):
        raise Malformed(".role", role, "a string", missing="role" not in value)
    if role in RESULT_ROLES:
        return Message(role, tuple(_result(value, RESULT_ROLES[role])))
    return Message(role, tuple(said(value)))


def said(value: dict[str, Json]) -> Iterator[Block]:
    """The blocks of a row that is not a result."""
    thought = value.get("reasoning_content")
    if isinstance(thought, str):
        yield Thinking(thought)
    yield from _content(value.get("content"))
    known = _SAID | {"reasoning_content"} if isinstance(thought, str) else _SAID
    yield from _fields(value, known)
    yield from calls_from(value)


def _content(content: Json) -> Iterator[Block]:
    if isinstance(content, str):
        yield Text(content)
    elif parts := _parts(content):
        yield from parts
    elif content is not None:
        yield Opaque("content", {"content": content})


def _parts(content: Json) -> tuple[Text | Opaque, ...]:
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return ()
    return tuple(map(_part, content))


def _part(value: dict[str, Json]) -> Text | Opaque:
    value = {name: part for name, part in value.items() if name != "cache_control"}
    kind, text = value.get("type"), value.get("text")
    if kind == "text" and isinstance(text, str):
        return Text(text, {k: v for k, v in value.items() if k not in ("type", "text")})
    named = isinstance(kind, str) and value.keys() != {kind}
    return Opaque(str(kind) if named else "", value)


def _fields(value: dict[str, Json], known: frozenset[str]) -> Iterator[Block]:
    for name, field in value.items():
        empty = field is None or (name == "annotations" and field == [])
        if name not in known and not empty:
            yield Opaque(name, {name: field})


def _result(value: dict[str, Json], names_call: str) -> Iterator[Block]:
    id_, content = value.get(names_call), value.get("content")
    if not isinstance(id_, str):  # it answers no call, so its words are words
        yield from _content(content)
        yield from _fields(value, frozenset({"role", "content"}))
        return
    if isinstance(content, str):
        yield ToolResult(id_, content)
    elif parts := _parts(content):
        yield ToolResult(id_, parts)
    else:
        yield ToolResult(id_)
        yield Opaque("content", {"content": content})
    yield from _fields(value, frozenset({"role", "content", names_call}))


def rows(message: Message) -> tuple[Message, ...]:
    """The message as this API has it: results that stand in a user message are rows before it."""
    if message.role in RESULT_ROLES or ToolResult not in map(type, message.blocks):
        return (message,)
    results = tuple(Message("tool", (block,)) for block in message.tool_results)
    rest = tuple(block for block in message.blocks if not isinstance(block, ToolResult))
    return (*results, Message(message.role, rest)) if rest else results


def message_to(message: Message) -> dict[str, Json]:
    """A row as the API has it; a message with several results is `rows` first."""
    blocks = message.blocks
    row: dict[str, Json] = {"role": message.role}
    if message.role in RESULT_ROLES and message.tool_results:
        result = message.tool_results[0]
        row |= {RESULT_ROLES[message.role]: result.id, "content": _result_content(result)}
    else:
        row["content"] = _content_to(blocks)
    thoughts = [block.text for block in blocks if isinstance(block, Thinking)]
    if thoughts:
        row["reasoning_content"] = "\n".join(thoughts)
    for block in blocks:
        if isinstance(block, Opaque) and is_field(block):
            row |= block.value
    calls = [call_to(block) for block in blocks if is_call(block)]
    row |= {"tool_calls": calls} if calls else {}
    legacy = [b for b in blocks if isinstance(b, ToolUse) and not is_call(b)]
    return row | ({LEGACY: function_to(legacy[0])} if legacy else {})


def is_field(block: Opaque) -> bool:
    """Whether a block is a field of its row, not a part of its content."""
    return block.value.keys() == {block.kind}


def _content_to(blocks: tuple[Block, ...]) -> Json:
    parts = [block for block in blocks if is_part(block)]
    if not parts:
        return None
    only = parts[0]
    if len(parts) == 1 and isinstance(only, Text) and not only.extra:
        return only.text
    return [_part_to(part) for part in parts]


def is_part(block: Block) -> TypeGuard[Text | Opaque]:
    """Whether a block is a part of its row's content: neither a field nor a call."""
    if isinstance(block, Opaque):
        return not is_field(block) and not is_call(block)
    return isinstance(block, Text)


def _part_to(part: Text | Opaque) -> dict[str, Json]:
    if isinstance(part, Opaque):
        return part.value
    return {"type": "text", "text": part.text, **part.extra}


def _result_content(result: ToolResult) -> Json:
    if isinstance(result.content, str):
        return result.content
    return [_part_to(part) for part in result.content]
