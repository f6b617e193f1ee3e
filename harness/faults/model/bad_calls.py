"""Calls under a wrong name or id, and calls whose arguments are wrong.

Arguments are missing, of the wrong type, too many, or cut off. A stream, or arguments as text,
deliver the cut text. A plain answer delivers what the SDK parses from it: without incomplete texts
and keys. Then only the stop reason shows the cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Literal

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults.shared.replies import (
    calling,
    last_call,
    made_call,
    new_id,
    rewritten,
    streams,
    tool_named,
    with_calls,
)

STAGE = "value"
SEAMS = ("model",)
# Another case than that of the scenario's tool, which no type gives.
DRAWN: dict[str, tuple[dict[str, str], ...]] = {"unknown_tool": ({}, {"name": "Ping"})}
# Arguments that a model writes as text; those of Gemini are an object from the start.
_AS_TEXT = ("list_as_input", "json_text_as_input", "nan_in_input", "stop_sequence_in_tool_input")
WIRES = dict.fromkeys(_AS_TEXT, ("anthropic", "openai-chat", "openai-responses"))


def empty_input(moment: Moment, plan: Plan) -> Plan:
    """A tool that requires arguments is called with `{}`."""

    def emptied(call: ToolUse) -> tuple[ToolUse, ...]:
        tool = tool_named(moment, call.name)
        if tool is None or not tool.required:
            tool = next((t for t in moment.tools if t.required), None)
        return (ToolUse(call.id, tool.name, {}),) if tool else ()

    return with_calls(moment, plan, emptied)


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


def _needing_nothing(moment: Moment, plan: Plan, *, value: Json) -> Plan:
    """A template of presets: the first tool that requires nothing is called with this."""
    names = [tool.name for tool in moment.tools if not tool.required][:1]
    return with_calls(moment, plan, lambda call: [ToolUse(call.id, n, value) for n in names])


Cut = tuple[str, dict[str, Json]]
"""The text as far as it came, and what the SDK reads out of it."""


def stop_sequence_in_tool_input(moment: Moment, plan: Plan, *, sequence: str = "</call>") -> Plan:
    """A stop sequence was met inside the arguments of a call, and the call ends there."""
    bent = _cut(moment, plan, place="string")

    def stopped(reply: Reply) -> Reply:
        extra = {**reply.extra, "stop_sequence": sequence}
        return msgspec.structs.replace(reply, stop="stop_sequence", extra=extra)

    return plan if bent == plan else rewritten(bent, stopped)


def _cut(moment: Moment, plan: Plan, *, place: Literal["key", "string", "number", "array"]) -> Plan:
    """A template of presets: the output ends at its length at this place in the arguments."""

    def begun(call: ToolUse) -> tuple[ToolUse, ...]:
        items = list(call.input.items()) if isinstance(call.input, dict) else []
        found = _in_key(items) if place == "key" else _in_value(items, _HALVES[place])
        if found is None:
            return ()
        text, read = found
        plain = moment.traits.arguments == "object" and not streams(moment)
        return (_given(call, read if plain else text),)

    return with_calls(moment, plan, begun, stop="max_tokens")


Items = list[tuple[str, Json]]


def _in_key(items: Items) -> Cut | None:
    if not items:
        return None
    name = items[-1][0]
    return _before(items[:-1]) + _text(name[: (len(name) + 1) // 2]), dict(items[:-1])


def _in_value(items: Items, halve: Callable[[Json], tuple[str, Items] | None]) -> Cut | None:
    """A cut in the first value that `halve` can cut: its text as far as it came, and what of it
    the SDK reads, if anything."""
    for place, (name, value) in enumerate(items):
        if (half := halve(value)) is not None:
            text, read = half
            said = f'{_before(items[:place])}{_text(name)}":{text}'
            return said, dict([*items[:place], *((name, part) for _, part in read)])
    return None


def _half_string(value: Json) -> tuple[str, Items] | None:
    if not isinstance(value, str) or not value:
        return None
    return _text(value[: (len(value) + 1) // 2]), []


def _half_number(value: Json) -> tuple[str, Items] | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    digits = str(value)
    part = digits[: max(len(digits) // 2, 1 + digits.startswith("-"))]
    return part, [("", int(part))]


def _half_array(value: Json) -> tuple[str, Items] | None:
    if not isinstance(value, list) or not value:
        return None
    half = value[: (len(value) + 1) // 2]
    return json.dumps(half, separators=(",", ":"))[:-1], [("", half)]


_HALVES = {"string": _half_string, "number": _half_number, "array": _half_array}


def _before(items: Items) -> str:
    """An object that goes on after these items."""
    return json.dumps(dict(items), separators=(",", ":"))[:-1] + ("," if items else "")


def _text(value: str) -> str:
    """A JSON text without its last quotation mark."""
    return json.dumps(value)[:-1]


Name = Annotated[str, msgspec.Meta(min_length=1)]


def unknown_tool(moment: Moment, plan: Plan, *, name: Name = "no_such_tool") -> Plan:
    """A tool is called that does not exist and never did."""
    return with_calls(moment, plan, lambda call: (_named(call, name),))


def tool_in_wrong_case(moment: Moment, plan: Plan) -> Plan:
    """A tool is called by its name in the other case: `READ_FILE` for `read_file`."""
    offered = {tool.name.swapcase() for tool in moment.call.tools}

    def swapped(call: ToolUse) -> tuple[ToolUse, ...]:
        return (call if call.name in offered else _named(call, call.name.swapcase()),)

    return with_calls(moment, plan, swapped)


def tool_with_prefix(moment: Moment, plan: Plan, *, prefix: Name = "functions.") -> Plan:
    """A tool is called by its name behind a prefix of another system."""
    return with_calls(
        moment, plan, lambda call: (_named(call, prefix + call.name.removeprefix(prefix)),)
    )


def removed_tool(moment: Moment, plan: Plan) -> Plan:
    """A tool is called that the conversation has used, and that is offered no longer."""
    offered = {tool.name for tool in moment.call.tools}
    used = [call for message in moment.call.messages for call in message.tool_uses]
    gone = [call for call in used if call.name not in offered]
    again = [msgspec.structs.replace(call, id=new_id(moment)) for call in gone[-1:]]
    return calling(moment, plan, *again)


def duplicate_ids(moment: Moment, plan: Plan) -> Plan:
    """Two calls of one reply have the same id."""
    return with_calls(moment, plan, lambda call: (call, call))


def id_of_an_earlier_call(moment: Moment, plan: Plan) -> Plan:
    """A call has the id of the last one in the conversation."""
    last = last_call(moment)
    if last is None:
        return plan
    return with_calls(moment, plan, lambda call: (_identified(call, last.id),))


def empty_id(moment: Moment, plan: Plan) -> Plan:
    """A call has the id ""."""
    return with_calls(moment, plan, lambda call: (_identified(call, ""),))


def id_is_the_name(moment: Moment, plan: Plan) -> Plan:
    """A call has its tool's name as its id, so two calls of the tool share it."""
    return with_calls(moment, plan, lambda call: (_identified(call, call.name),))


def _named(call: ToolUse, name: str) -> ToolUse:
    return msgspec.structs.replace(call, name=name)


def _identified(call: ToolUse, id_: str) -> ToolUse:
    return msgspec.structs.replace(call, id=id_)
