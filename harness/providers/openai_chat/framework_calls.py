"""Calls and results as agent frameworks record them: the same facts under other names.

OpenAI nests `function: {name, arguments}`. AgentDojo and inspect_ai write `function` as the name
itself, with `args` or `arguments` beside it. LangChain writes `name` and `args`, the AI SDK
`toolName` and `input`. A call whose name or arguments stand nowhere is `Opaque` of kind
`UNREAD_CALL`: a call without them would look like any other one.
"""

from __future__ import annotations

import re

from harness.core.values.messages import Block, Json, Opaque, ToolResult, ToolUse
from harness.providers.shared import json_fields as f
from harness.providers.shared.json_fields import UNREAD_CALL

_IDS_OF_CALLS = ("tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "call_id", "callId")
_IDS = (*_IDS_OF_CALLS, "id")
"""The fields with the id of a call. A part or a row may have an `id` of its own beside it."""

_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")

_OTHER_FIELDS = frozenset((
    "type", "function", "custom", "index", "view", "state", "title", "error", "parse_error",
    "placeholder_args", "providerExecuted", "providerOptions", "providerMetadata",
    "callProviderMetadata", "toolMetadata", "cache_control", "extra_content", "thought_signature",
    "signature", *_IDS, *_NAMES,
))  # fmt: skip
"""What may stand in a call beside its arguments."""

NO_NAME = "a call has no name: none stands in function, name or toolName"
NO_ARGUMENTS = "the arguments of a call are not found in arguments, args, input or parameters"

_CALL = re.compile(r"(tool|function)([-_]?(call|use|invocation|request))?", re.IGNORECASE)
_RESULT = re.compile(r"(tool|function)[-_]?(call[-_]?)?(result|response|output)", re.IGNORECASE)

_OUTPUTS = ("output", "result", "response")
_FAILED_OUTPUTS = frozenset({"error-text", "error-json", "execution-denied"})
TEXTS = {"text": "text", "": "text"}


def is_call_part(part: Json) -> bool:
    """Whether a part of a message is a call, by its type."""
    return _CALL.fullmatch(f.text(f.mapping(part).get("type"))) is not None


def is_result_part(part: Json) -> bool:
    """Whether a part of a message is a result, by its type."""
    return _RESULT.fullmatch(f.text(f.mapping(part).get("type"))) is not None


def call_from_record(call: dict[str, Json]) -> Block:
    """A call of a recording: the tool's use, or why it cannot be read."""
    inner = f.mapping(call.get("function")) or f.mapping(call.get("custom"))
    name = f.text(call.get("function")) or f.first(inner, _NAMES) or f.first(call, _NAMES)
    if not isinstance(name, str) or not name.strip():
        return unread(NO_NAME, call)
    held = next((said for said in (inner, call) if any(key in said for key in _ARGUMENTS)), None)
    if held is None and any(_may_hold(said) for said in (inner, call)):
        return unread(NO_ARGUMENTS, call)
    given = f.first(held, _ARGUMENTS) if held is not None else None
    return ToolUse(call_id(call), name, f.arguments(given))


def unread(reason: str, call: dict[str, Json]) -> Opaque:
    """What stands in a message for a call that cannot be read."""
    return Opaque(UNREAD_CALL, {"reason": reason, "call": call})


def is_result_role(role: Json) -> bool:
    """Whether a role is another spelling of `tool`, as in pi-ai's `toolResult`."""
    return _RESULT.fullmatch(f.text(role)) is not None


def call_id(value: dict[str, Json]) -> str:
    """The id of a call, or of the call that a result answers; "" without one."""
    return f.identifier(f.first(value, _IDS))


def _may_hold(value: dict[str, Json]) -> bool:
    """Whether a field that we do not know may be the arguments."""
    unknown = (part for name, part in value.items() if name not in _OTHER_FIELDS)
    return any(isinstance(part, (dict, list)) or f.text(part) for part in unknown)


def result_from_row(value: dict[str, Json]) -> ToolResult:
    """The result that a message of role `tool` or `function` is.

    A failing one may have its text in `error` alone; LangChain marks it by `status`.
    """
    content = f.result_content(f.first(value, ("content", *_OUTPUTS)), TEXTS)
    error, id_ = value.get("error"), f.identifier(f.first(value, _IDS_OF_CALLS))
    if error and not ToolResult(id_, content).text.strip():
        said = f.mapping(error).get("message")
        text = said if isinstance(said, str) else f.json_text(error)
        content = error if isinstance(error, str) else text
    failed = bool(error) or _is_marked_failed(value) or value.get("status") == "error"
    return ToolResult(id_, content, failed)


def _is_marked_failed(value: dict[str, Json]) -> bool:
    return value.get("is_error") is True or value.get("isError") is True


def result_from_part(part: dict[str, Json]) -> ToolResult:
    """The result that a part of a message is."""
    given = f.first(part, (*_OUTPUTS, "content"))
    kind = f.text(f.mapping(given).get("type"))
    failed = _is_marked_failed(part) or kind in _FAILED_OUTPUTS
    if kind and ("value" in given or kind in _FAILED_OUTPUTS):
        given = given.get("value", given.get("reason"))
    return ToolResult(call_id(part), f.result_content(given, TEXTS), failed)
