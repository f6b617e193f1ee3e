"""Tool calls: the wire's JSON objects and the core's `ToolUse`, both ways.

`extra` keeps what the core has no name for: other fields of the call, `function` with those beside
its name and arguments, and `type` where it is not `function`. A custom call's input is free text
and is never read. A legacy `function_call` has no id; its name stands for it, as the name of its
result does. A call that cannot be read so is kept whole, as `Opaque` of the kind `tool_call`.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.values.messages import Block, Json, Opaque, ToolUse
from harness.providers.openai_chat.arguments import arguments_from, arguments_to

CALL = "tool_call"
LEGACY = "function_call"


def calls_from(value: dict[str, Json]) -> Iterator[Block]:
    """The calls of a message; a list of them that is none is kept as a field."""
    calls = value.get("tool_calls")
    if isinstance(calls, list) and calls and all(isinstance(call, dict) for call in calls):
        yield from map(call_from, calls)
    elif calls is not None:
        yield Opaque("tool_calls", {"tool_calls": calls})
    match value.get(LEGACY):
        case {"name": str(name), "arguments": str(text), **rest} if not rest:
            yield ToolUse(name, name, arguments_from(text), {"type": LEGACY})
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
            return ToolUse(id_, name, arguments_from(text), extra)
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
    """A call as the wire writes it."""
    if not isinstance(block, ToolUse):
        return block.value if isinstance(block, Opaque) else {}
    kind = block.extra.get("type", "function")
    said = {} if kind is None else {"type": kind}
    if kind == "custom":
        text = arguments_to(block.input)
        return {"id": block.id, **said, "custom": {"name": block.name, "input": text}}
    rest = {k: v for k, v in block.extra.items() if k not in ("type", "function")}
    return {"id": block.id, **said, "function": function_to(block), **rest}


def function_to(block: ToolUse) -> dict[str, Json]:
    """The function that a call names: its name and arguments."""
    inner = block.extra.get("function")
    more = inner if isinstance(inner, dict) else {}
    return {"name": block.name, "arguments": arguments_to(block.input), **more}
