"""What an item must look like: its fields, their types, and the words that they may hold."""

from __future__ import annotations

from collections.abc import Iterator

from harness.core.transition.ports import Violation
from harness.core.values.messages import Json
from harness.providers.openai_responses.items import ANSWERS, kind_of
from harness.providers.openai_responses.rules import violation

KINDS = ANSWERS | {
    "additional_tools",
    "apply_patch_call",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "computer_call",
    "configuration_update",
    "custom_tool_call",
    "file_search_call",
    "function_call",
    "image_generation_call",
    "item_reference",
    "local_shell_call",
    "mcp_approval_request",
    "mcp_call",
    "mcp_list_tools",
    "message",
    "program",
    "program_output",
    "reasoning",
    "shell_call",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
}
"""The kinds of items that a request may hold (SDK types, 3.52)."""

_ROLES = ("assistant", "system", "developer", "user")
_TEXT, _LIST = ("a string", str), ("an array", list)
_EITHER = ("one of a string or an array of objects", (str, list))

_Wanted = tuple[str, type | tuple[type, ...]]
_FIELDS: dict[str, dict[str, _Wanted]] = {
    "message": {"role": _TEXT, "content": _EITHER},
    "function_call": {"call_id": _TEXT, "name": _TEXT, "arguments": _TEXT},
    "function_call_output": {"call_id": _TEXT, "output": _EITHER},
    "reasoning": {"summary": _LIST},
    "item_reference": {"id": _TEXT},
    "input_text": {"text": _TEXT},
    "output_text": {"text": _TEXT},
    "refusal": {"refusal": _TEXT},
}
"""The fields that must be there, of items and of parts."""

_PARTS = {
    "assistant": ("output_text", "refusal"),
    "": ("input_text", "input_image", "input_file", "input_audio"),
}

_GOT = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def wrong_type(path: str, wanted: str, value: Json) -> Violation:
    """A value of the wrong type (R8)."""
    return violation("R8", path=path, wanted=wanted, got=_GOT[type(value)])


def wrong(item: Json, path: str) -> Iterator[Violation]:
    """What is wrong with the form of an item that stands at `path`."""
    if not isinstance(item, dict):
        yield wrong_type(path, "an object", item)
        return
    kind = kind_of(item)
    if kind not in KINDS:
        yield from _unknown_kind(item, path)
        return
    missing = [*_fields(item, kind, path)]
    yield from missing
    if kind == "message" and not missing:
        yield from _message(item, path)


def _unknown_kind(item: dict[str, Json], path: str) -> Iterator[Violation]:
    kind = item.get("type")
    if isinstance(kind, str):
        yield violation("R7", value=kind, wanted=_listed(sorted(KINDS)), path=path)
    elif kind is None:
        yield violation("R9", path=f"{path}.type")
    else:
        yield wrong_type(f"{path}.type", "a string", kind)


def _fields(value: dict[str, Json], kind: str, path: str) -> Iterator[Violation]:
    for name, (wanted, types) in _FIELDS.get(kind, {}).items():
        if name not in value:
            yield violation("R9", path=f"{path}.{name}")
        elif not isinstance(value[name], types):
            yield wrong_type(f"{path}.{name}", wanted, value[name])


def _message(item: dict[str, Json], path: str) -> Iterator[Violation]:
    role, content = item["role"], item["content"]
    if role not in _ROLES:
        yield violation("R7", value=role, wanted=_listed(_ROLES), path=f"{path}.role")
    if not content:
        yield violation("R19", path=f"{path}.content")
    kinds = _PARTS.get(role, _PARTS[""])
    for m, part in enumerate(content if isinstance(content, list) else ()):
        yield from _part(part, f"{path}.content[{m}]", kinds)


def _part(part: Json, path: str, kinds: tuple[str, ...]) -> Iterator[Violation]:
    if not isinstance(part, dict):
        yield wrong_type(path, "an object", part)
        return
    kind = part.get("type")
    if kind is None:
        yield violation("R9", path=f"{path}.type")
    elif kind not in kinds:
        yield violation("R7", value=kind, wanted=_listed(kinds), path=path)
    else:
        yield from _fields(part, kind, path)
        if part.get("text") == "":
            yield violation("R19", path=f"{path}.text")


def _listed(words: tuple[str, ...] | list[str]) -> str:
    *most, last = (f"'{word}'" for word in words)
    return f"{', '.join(most)} and {last}" if len(most) < 2 else f"{', '.join(most)}, and {last}"
