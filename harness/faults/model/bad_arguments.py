"""Calls whose arguments are missing, of the wrong type, too many, or cut off.

A stream, or arguments as text, deliver the cut text. A plain answer delivers what the SDK parses
from it: without incomplete texts and keys. Then only the stop reason shows the cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults.shared.replies import made_call, rewritten, streams, tool_named, with_calls

STAGE = "value"
SEAMS = ("model",)
CODES = {
    "empty_input": ("M5",),
    "empty_object_where_none_needed": ("M6",),
    "empty_text_where_none_needed": ("M6",),
    "list_as_input": ("M8",),
    "null_as_input": ("M8",),
    "json_text_as_input": ("M8",),
    "nan_in_input": ("M8",),
    "extra_arguments": ("M9",),
    "cut_in_key": ("M7",),
    "cut_in_string": ("M7",),
    "cut_in_number": ("M7",),
    "cut_in_array": ("M7",),
    "stop_sequence_in_tool_input": ("M28",),
}
_AS_TEXT = (
    "list_as_input", "json_text_as_input", "nan_in_input", "cut_in_key", "cut_in_string",
    "cut_in_number", "cut_in_array", "stop_sequence_in_tool_input",
)  # fmt: skip
WIRES = {
    "empty_text_where_none_needed": ("openai-chat", "openai-responses"),
    # Arguments that a model writes as text; those of Gemini are an object from the start.
    **dict.fromkeys(_AS_TEXT, ("anthropic", "openai-chat", "openai-responses")),
}


def empty_input(moment: Moment, plan: Plan) -> Plan:
    """A tool that requires arguments is called with `{}`."""

    def emptied(call: ToolUse) -> tuple[ToolUse, ...]:
        tool = tool_named(moment, call.name)
        if tool is None or not tool.required:
            tool = next((t for t in moment.tools if t.required), None)
        return (_given(made_call(moment, tool), {}),) if tool else ()

    return with_calls(moment, plan, emptied)


def empty_object_where_none_needed(moment: Moment, plan: Plan) -> Plan:
    """A tool that requires nothing is called with `{}`, which is right."""
    return with_calls(moment, plan, lambda call: _needing_nothing(moment, {}))


def empty_text_where_none_needed(moment: Moment, plan: Plan) -> Plan:
    """A tool that requires nothing is called with the text "" as its arguments, as gateways do."""
    return with_calls(moment, plan, lambda call: _needing_nothing(moment, ""))


def list_as_input(moment: Moment, plan: Plan) -> Plan:
    """The arguments are a list of the values."""
    return with_calls(
        moment, plan, lambda call: (_given(call, list(_values(moment, call).values())),)
    )


def null_as_input(moment: Moment, plan: Plan) -> Plan:
    """The arguments are null."""
    return with_calls(moment, plan, lambda call: (_given(call, None),))


def json_text_as_input(moment: Moment, plan: Plan) -> Plan:
    """The arguments are a JSON string, in which the object stands as text."""

    def quoted(call: ToolUse) -> tuple[ToolUse, ...]:
        text = msgspec.json.encode(_values(moment, call)).decode()
        if moment.traits.arguments == "text":
            text = msgspec.json.encode(text).decode()
        return (_given(call, text),)

    return with_calls(moment, plan, quoted)


def nan_in_input(moment: Moment, plan: Plan) -> Plan:
    """An argument more is NaN, which is not JSON: a stream carries it, a plain answer says null."""

    def with_nan(call: ToolUse) -> tuple[ToolUse, ...]:
        if moment.traits.arguments == "object" and not streams(moment):
            return (_given(call, {**_values(moment, call), "ratio": None}),)
        text = msgspec.json.encode({**_values(moment, call), "ratio": "?"}).decode()
        return (_given(call, text.removesuffix('"?"}') + "NaN}"),)

    return with_calls(moment, plan, with_nan)


def extra_arguments(
    moment: Moment, plan: Plan, *, name: str = "explanation", value: str = "because"
) -> Plan:
    """An argument more is given, of which the schema knows nothing."""
    return with_calls(
        moment, plan, lambda call: (_given(call, {**_values(moment, call), name: value}),)
    )


def _values(moment: Moment, call: ToolUse) -> dict[str, Json]:
    """The arguments that the call should have: its own where they are whole, else made-up ones."""
    tool = tool_named(moment, call.name)
    if isinstance(call.input, dict) and (tool is None or set(tool.required) <= set(call.input)):
        return call.input
    return {} if tool is None else made_call(moment, tool).input


def _given(call: ToolUse, value: Json) -> ToolUse:
    return msgspec.structs.replace(call, input=value)


def _needing_nothing(moment: Moment, value: Json) -> tuple[ToolUse, ...]:
    """A call of the first tool that requires nothing."""
    tool = next((tool for tool in moment.tools if not tool.required), None)
    return (_given(made_call(moment, tool), value),) if tool else ()


Cut = tuple[str, dict[str, Json]]
"""The text as far as it came, and what the SDK reads out of it."""


def cut_in_key(moment: Moment, plan: Plan) -> Plan:
    """The output ends at its length inside the name of the last argument."""
    return _cut_off(moment, plan, _in_key)


def cut_in_string(moment: Moment, plan: Plan) -> Plan:
    """The output ends at its length inside a text among the arguments."""
    return _cut_off(moment, plan, _in_string)


def cut_in_number(moment: Moment, plan: Plan) -> Plan:
    """The output ends at its length inside a number, which looks like a whole, smaller one."""
    return _cut_off(moment, plan, _in_number)


def cut_in_array(moment: Moment, plan: Plan) -> Plan:
    """The output ends at its length inside a list among the arguments."""
    return _cut_off(moment, plan, _in_array)


def stop_sequence_in_tool_input(moment: Moment, plan: Plan, *, sequence: str = "</call>") -> Plan:
    """A stop sequence was met inside the arguments of a call, and the call ends there."""
    bent = _cut_off(moment, plan, _in_string)

    def stopped(reply: Reply) -> Reply:
        extra = {**reply.extra, "stop_sequence": sequence}
        return msgspec.structs.replace(reply, stop="stop_sequence", extra=extra)

    return plan if bent == plan else rewritten(bent, stopped)


def _cut_off(
    moment: Moment, plan: Plan, cut: Callable[[list[tuple[str, Json]]], Cut | None]
) -> Plan:
    def begun(call: ToolUse) -> tuple[ToolUse, ...]:
        found = cut(list(call.input.items())) if isinstance(call.input, dict) else None
        if found is None:
            return ()
        text, read = found
        plain = moment.traits.arguments == "object" and not streams(moment)
        return (msgspec.structs.replace(call, input=read if plain else text),)

    return with_calls(moment, plan, begun, stop="max_tokens")


def _in_key(items: list[tuple[str, Json]]) -> Cut | None:
    if not items:
        return None
    name = items[-1][0]
    return _before(items[:-1]) + _text(name[: (len(name) + 1) // 2]), dict(items[:-1])


def _in_string(items: list[tuple[str, Json]]) -> Cut | None:
    for place, (name, value) in enumerate(items):
        if isinstance(value, str) and value:
            part = _text(value[: (len(value) + 1) // 2])
            return f'{_before(items[:place])}{_text(name)}":{part}', dict(items[:place])
    return None


def _in_number(items: list[tuple[str, Json]]) -> Cut | None:
    for place, (name, value) in enumerate(items):
        if isinstance(value, int) and not isinstance(value, bool):
            digits = str(value)
            part = digits[: max(len(digits) // 2, 1 + digits.startswith("-"))]
            read = {**dict(items[:place]), name: int(part)}
            return f'{_before(items[:place])}{_text(name)}":{part}', read
    return None


def _in_array(items: list[tuple[str, Json]]) -> Cut | None:
    for place, (name, value) in enumerate(items):
        if isinstance(value, list) and value:
            half = value[: (len(value) + 1) // 2]
            part = json.dumps(half, separators=(",", ":"))[:-1]
            read = {**dict(items[:place]), name: half}
            return f'{_before(items[:place])}{_text(name)}":{part}', read
    return None


def _before(items: list[tuple[str, Json]]) -> str:
    """An object that goes on after these items."""
    return json.dumps(dict(items), separators=(",", ":"))[:-1] + ("," if items else "")


def _text(value: str) -> str:
    """A JSON text without its last quotation mark."""
    return json.dumps(value)[:-1]
