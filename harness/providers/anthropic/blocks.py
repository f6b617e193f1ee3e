"""Content blocks: the API's JSON objects and the core's values, both ways.

An unknown or incomplete block stays whole as `Opaque`, so that it is written back unchanged.
`cache_control` is dropped everywhere. Unknown fields of text and tool_use go to `extra`; the core
has no place for those of a tool_result. `notes` reads cache marks and forbidden fields; a usual
message costs one comparison of names per block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

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
from harness.providers.shared import json_fields as f
from harness.providers.shared.reader import Malformed


def message_from(value: Json) -> Message:
    """A message of the API as a value; raises Malformed when role or content is not one."""
    if not isinstance(value, dict):
        raise Malformed("", value, "a valid dictionary")
    for name in ("role", "content"):
        if name not in value:
            raise Malformed(f".{name}", missing=True)
    if not isinstance(value["role"], str):
        raise Malformed(".role", value["role"], "a valid string")
    return Message(value["role"], _content(value["content"]))


def _content(content: Json) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Text(content),) if content else ()
    if not isinstance(content, list):
        raise Malformed(".content", content, "a valid list")
    for m, block in enumerate(content):
        if not isinstance(block, dict):
            raise Malformed(f".content.{m}", block, "a valid dictionary")
    return tuple(map(block_from, content))


def message_to(message: Message) -> dict[str, Json]:
    """A message as the API has it: its content is always a list."""
    return {"role": message.role, "content": [block_to(block) for block in message.blocks]}


def block_from(value: dict[str, Json]) -> Block:
    """A block of the API as a value; what we do not know is `Opaque`."""
    if "cache_control" in value:
        value = {name: part for name, part in value.items() if name != "cache_control"}
    kind = value.get("type")
    read = _READ.get(kind) if isinstance(kind, str) else None
    block = read(value) if read else None
    return block if block is not None else Opaque(kind if isinstance(kind, str) else "", value)


def _text(value: dict[str, Json]) -> Block | None:
    text = value.get("text")
    return Text(text, _rest(value, _TEXT_FIELDS)) if isinstance(text, str) else None


def _thinking(value: dict[str, Json]) -> Block | None:
    text, signature = value.get("thinking"), value.get("signature", "")
    if not (isinstance(text, str) and isinstance(signature, str)):
        return None
    return None if _rest(value, FIELDS["thinking"]) else Thinking(text, signature)


def _redacted_thinking(value: dict[str, Json]) -> Block | None:
    data = value.get("data")
    if not (isinstance(data, str) and data):
        return None
    return None if _rest(value, FIELDS["redacted_thinking"]) else Thinking(redacted=data)


def _tool_use(value: dict[str, Json]) -> Block | None:
    id_, name = value.get("id"), value.get("name")
    if not (isinstance(id_, str) and isinstance(name, str)):
        return None
    return ToolUse(id_, name, value.get("input"), _rest(value, _TOOL_USE_FIELDS))


def _tool_result(value: dict[str, Json]) -> Block | None:
    id_, content = value.get("tool_use_id"), value.get("content")
    if not isinstance(id_, str):
        return None
    is_error = value.get("is_error") is True
    if content is None or isinstance(content, str):
        return ToolResult(id_, content or "", is_error)
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    return ToolResult(id_, tuple(_part(part) for part in content), is_error)


def _part(value: dict[str, Json]) -> Text | Opaque:
    block = block_from(value)
    return block if isinstance(block, (Text, Opaque)) else Opaque(value["type"], value)


def _rest(value: dict[str, Json], known: frozenset[str]) -> dict[str, Json]:
    if value.keys() <= known:
        return {}
    return {name: part for name, part in value.items() if name not in known}


_TEXT_FIELDS = frozenset({"type", "text"})
_TOOL_USE_FIELDS = frozenset({"type", "id", "name", "input"})

_READ: dict[str, Callable[[dict[str, Json]], Block | None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted_thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}


def block_to(block: Block) -> dict[str, Json]:
    """A block as the API has it."""
    match block:
        case Text():
            return {"type": "text", "text": block.text, **block.extra}
        case Thinking(redacted=data) if data:
            return {"type": "redacted_thinking", "data": data}
        case Thinking(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(id_, name, input_, extra):
            return {"type": "tool_use", "id": id_, "name": name, "input": input_, **extra}
        case ToolResult():
            return _result_to(block)
        case Opaque(value=value):
            return value


def _result_to(block: ToolResult) -> dict[str, Json]:
    content: Json = block.content
    if not isinstance(content, str):
        content = [block_to(part) for part in content]
    value = {"type": "tool_result", "tool_use_id": block.id, "content": content}
    return {**value, "is_error": True} if block.is_error else value


FIELDS = {kind: frozenset(held.split()) for kind, held in pairs(__package__, "blocks.tsv").items()}
"""The fields of the kinds of block that we know, by the types of the official SDK."""


class BlockNotes(msgspec.Struct, frozen=True):
    """What the rules need to know of a message's blocks.

    `marks` counts cache marks. `hollow` holds the indexes of marked blocks with empty text. The
    rest are paths below the message: `extra` of fields that are not permitted, `missing` of fields
    that a thinking block lacks, `wrong` of fields in it that are not strings.
    """

    marks: int = 0
    hollow: tuple[int, ...] = ()
    extra: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


def notes(value: dict[str, Json]) -> BlockNotes | None:
    """What a message says beside its blocks, None for nothing."""
    content = value.get("content")
    if not isinstance(content, list):
        return None
    odd = [(m, block) for m, block in enumerate(content) if not _is_usual(block)]
    if not odd:
        return None
    marks = sum(map(_marks, (block for _, block in odd)))
    hollow = tuple(m for m, block in odd if _is_marked(block) and block.get("text") == "")
    extra = tuple(f"content.{m}.{name}" for m, block in odd for name in _extra(block))
    texts = [(f"content.{m}.{name}", text) for m, block in odd for name, text in _texts(block)]
    missing = tuple(path for path, text in texts if text is _ABSENT)
    wrong = tuple(path for path, text in texts if not isinstance(text, str | _Absent))
    found = marks or extra or missing or wrong
    return BlockNotes(marks, hollow, extra, missing, wrong) if found else None


def _is_usual(block: dict[str, Json]) -> bool:
    kind = block.get("type")
    usual = _USUAL.get(kind) if type(kind) is str else None
    if usual is None or not block.keys() <= usual:
        return False
    if kind in _THOUGHTS:
        return all(type(block.get(name)) is str for name in _THOUGHTS[kind])
    return kind != "tool_result" or type(block.get("content")) is str


_THOUGHTS = {"thinking": ("signature", "thinking"), "redacted_thinking": ("data",)}
"""The fields that thinking must have."""


class _Absent:
    """No value at all."""


_ABSENT = _Absent()


def _texts(block: dict[str, Json]) -> Iterator[tuple[str, object]]:
    kind = block.get("type")
    for name in _THOUGHTS.get(kind, ()) if isinstance(kind, str) else ():
        yield f"{kind}.{name}", block.get(name, _ABSENT)


_USUAL = {kind: fields - {"cache_control"} for kind, fields in FIELDS.items()}


def _marks(block: dict[str, Json]) -> int:
    inner = block.get("content") if block.get("type") == "tool_result" else None
    return _is_marked(block) + marks_in(inner)


def _extra(block: dict[str, Json]) -> list[str]:
    kind = block.get("type")
    fields = FIELDS.get(kind) if isinstance(kind, str) else None
    return [f"{kind}.{name}" for name in block if fields is not None and name not in fields]


def _is_marked(part: Json) -> bool:
    return isinstance(part, dict) and part.get("cache_control") is not None


def marks_in(value: Json) -> int:
    """How many parts of a list (system blocks, tools) carry a cache mark."""
    return sum(map(_is_marked, value)) if isinstance(value, list) else 0


_OWN = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})


def is_own(message: dict[str, Json]) -> bool:
    """Whether a recorded message holds a block that only this API has."""
    return any(f.text(block.get("type")) in _OWN for block in f.objects(message.get("content")))
