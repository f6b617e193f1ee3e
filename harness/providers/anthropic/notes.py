"""What a message says beside its blocks: cache marks, and fields that the API has no place for.

The core's values carry neither, so both are read off the wire's JSON as it is decoded. The usual
message says nothing of the kind and costs one comparison of names for each block.
"""

from __future__ import annotations

import msgspec

from harness.core.values.messages import Json

FIELDS: dict[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "citations", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset(
        {"type", "id", "name", "input", "caller", "toolset_name", "cache_control"}
    ),
    "tool_result": frozenset(
        {"type", "tool_use_id", "content", "is_error", "toolset_name", "cache_control"}
    ),
    "image": frozenset({"type", "source", "transformations", "cache_control"}),
}
"""The fields of the kinds of block that we know, by the types of the official SDK."""


class Notes(msgspec.Struct, frozen=True):
    """`marks` counts cache marks; `hollow` are marked blocks of empty text, by their index; `extra`
    are the paths, below the message, of fields that are not permitted."""

    marks: int = 0
    hollow: tuple[int, ...] = ()
    extra: tuple[str, ...] = ()


def notes(value: dict[str, Json]) -> Notes | None:
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
    return Notes(marks, hollow, extra) if marks or extra else None


def _is_usual(block: dict[str, Json]) -> bool:
    kind = block.get("type")
    usual = _USUAL.get(kind) if type(kind) is str else None
    if usual is None or not block.keys() <= usual:
        return False
    return kind != "tool_result" or type(block.get("content")) is str


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
