"""Calls whose arguments are missing, of the wrong type, or more than the tool takes."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import Plan
from harness.faults.model.replies import made_call, streams, tool_named, with_calls

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
}

WIRES = {"empty_text_where_none_needed": ("openai-chat", "openai-responses")}


def empty_input(moment: Moment, plan: Plan) -> Plan:
    """A tool that requires arguments is called with `{}`."""

    def emptied(call: ToolUse) -> tuple[ToolUse, ...]:
        tool = tool_named(moment, call.name)
        if tool is None or not tool.required:
            tool = next((t for t in moment.call.tools if t.required), None)
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
        if moment.wire == "openai-chat":  # there, arguments are text and stand for themselves
            text = msgspec.json.encode(text).decode()
        return (_given(call, text),)

    return with_calls(moment, plan, quoted)


def nan_in_input(moment: Moment, plan: Plan) -> Plan:
    """An argument more is NaN, which is no JSON: a stream carries it, a plain answer says null."""

    def with_nan(call: ToolUse) -> tuple[ToolUse, ...]:
        if moment.wire == "anthropic" and not streams(moment):
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
    tool = next((tool for tool in moment.call.tools if not tool.required), None)
    return (_given(made_call(moment, tool), value),) if tool else ()
