"""What a single row breaks, whatever stands around it: its content and its calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json, Message, Opaque, Text, ToolResult, ToolUse
from harness.providers.openai_chat.blocks import RESULT_ROLES, is_field
from harness.providers.openai_chat.calls import LEGACY, is_call
from harness.providers.openai_chat.json_types import type_name
from harness.providers.openai_chat.rules import violation

CALL_ID_MAX, NAME_MAX = 40, 64
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_KINDS = frozenset({"text", "image_url", "input_audio", "refusal", "audio", "file"})
_INSTEAD = frozenset({"refusal", "audio", LEGACY, "tool_calls"})
"""Fields of an assistant row that say something in place of a content."""


def content_violations(n: int, row: Message) -> Iterator[Violation]:
    """The violations of the row at place `n`."""
    if len(row.blocks) == 1 and isinstance(row.blocks[0], Text) and row.blocks[0].text:
        return
    yield from _content(n, row)
    yield from _parts(n, row)
    calls = [block for block in row.blocks if is_call(block)]
    for m, call in enumerate(calls):
        path = f"messages[{n}].tool_calls[{m}]"
        if isinstance(call, ToolUse):
            yield from _call(n, m, path, call)
        elif isinstance(call, Opaque):
            yield from _unreadable(path, call.value)


def _content(n: int, row: Message) -> Iterator[Violation]:
    fields = {b.kind: b.value[b.kind] for b in row.blocks if isinstance(b, Opaque) and is_field(b)}
    if "content" in fields:
        yield from _bad_content(n, fields["content"])
    elif row.role == "assistant":
        yield from _assistant(n, row, fields)
    elif not any(_is_content(block) for block in row.blocks):
        yield violation("C6", n=n)
    elif row.role not in RESULT_ROLES and not _says(row):
        yield violation("C31", n=n, role=row.role)
    if fields.get("tool_calls") == []:
        yield violation("C13a", path=f"messages[{n}].tool_calls")
    elif "tool_calls" in fields:
        yield _wrong(f"messages[{n}].tool_calls", "an array of objects", fields["tool_calls"])


def _bad_content(n: int, content: Json) -> Iterator[Violation]:
    path = f"messages[{n}].content"
    if content is None:
        yield violation("C6", n=n)
    elif content == []:
        yield violation("C13a", path=path)
    else:
        yield _wrong(path, "one of a string or array of objects", content)


def _assistant(n: int, row: Message, fields: dict[str, Json]) -> Iterator[Violation]:
    asks = any(isinstance(b, ToolUse) or is_call(b) for b in row.blocks)
    if asks or _INSTEAD & fields.keys():
        return
    if not any(_is_content(block) for block in row.blocks):
        yield violation("C7", n=n)
        yield violation("C30")
    elif not _says(row):
        yield violation("C31", n=n, role=row.role)


def _is_content(block: object) -> bool:
    if isinstance(block, Opaque):
        return not is_field(block) and not is_call(block)
    return isinstance(block, (Text, ToolResult))


def _says(row: Message) -> bool:
    others = (b for b in row.blocks if isinstance(b, Opaque) and _is_content(b))
    return bool(row.text) or any(others)


def _parts(n: int, row: Message) -> Iterator[Violation]:
    contents = [block for block in row.blocks if _is_content(block)]
    for m, block in enumerate(contents):
        if not isinstance(block, Opaque) or block.kind in _KINDS - {"text"}:
            continue
        path = f"messages[{n}].content[{m}]"
        if block.kind == "text":
            yield violation("C12a", path=f"{path}.text")
        elif isinstance(block.value.get("type"), str):
            yield violation("C16", n=n, m=m, kind=block.value["type"])
        else:
            yield violation("C12a", path=f"{path}.type")


def _call(n: int, m: int, path: str, call: ToolUse) -> Iterator[Violation]:
    if call.extra.get("type", "function") is None:
        yield violation("C12a", path=f"{path}.type")
    if len(call.id) > CALL_ID_MAX:
        yield violation("C17", path=f"{path}.id", limit=CALL_ID_MAX, length=len(call.id))
    yield from name_violations(f"{path}.function.name", call.name)
    if not isinstance(call.input, dict) and call.extra.get("type") != "custom":
        yield violation("C34", n=n, m=m)


def _unreadable(path: str, call: dict[str, Json]) -> Iterator[Violation]:
    """Why a call could not be read: the first thing that is missing or of the wrong type."""
    kind = call.get("type", "function")
    kind = kind if kind in ("function", "custom") else "function"
    for name, wanted in (("id", "a string"), ("type", "a string"), (kind, "an object")):
        if name not in call:
            yield violation("C12a", path=f"{path}.{name}")
            return
        if type_name(call[name]) != wanted:
            yield _wrong(f"{path}.{name}", wanted, call[name])
            return
    for name in ("name", "arguments" if kind == "function" else "input"):
        if name not in call[kind]:
            yield violation("C12a", path=f"{path}.{kind}.{name}")
        elif not isinstance(call[kind][name], str):
            yield _wrong(f"{path}.{kind}.{name}", "a string", call[kind][name])


def name_violations(path: str, name: str) -> Iterator[Violation]:
    """What a tool's name breaks."""
    if not _NAME.fullmatch(name):
        yield violation("C18", path=path)
    if len(name) > NAME_MAX:
        yield violation("C19", path=path, limit=NAME_MAX, length=len(name))


def _wrong(path: str, wanted: str, value: Json) -> Violation:
    return violation("C11a", path=path, wanted=wanted, got=type_name(value))
