"""Calls that were cut off while the model wrote their arguments.

On a stream, and wherever arguments are text, the client gets the text as far as it came. In a plain
answer of the Anthropic API they are an object: there the client gets what the SDK makes of such a
text, which drops a text or key that is not whole and keeps a number that may go on. So only the
stop reason tells a cut call from a whole one.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import Json, ToolUse
from harness.core.values.plans import Plan, Reply
from harness.faults.model.replies import rewritten, streams, with_calls

STAGE = "value"

SEAMS = ("model",)

CODES = {
    "cut_in_key": ("M7",),
    "cut_in_string": ("M7",),
    "cut_in_number": ("M7",),
    "cut_in_array": ("M7",),
    "stop_sequence_in_tool_input": ("M28",),
}

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
    if bent == plan:
        return plan
    return rewritten(bent, lambda reply: _stopped_at(reply, sequence))


def _stopped_at(reply: Reply, sequence: str) -> Reply:
    extra = {**reply.extra, "stop_sequence": sequence}
    return msgspec.structs.replace(reply, stop="stop_sequence", extra=extra)


def _cut_off(
    moment: Moment, plan: Plan, cut: Callable[[list[tuple[str, Json]]], Cut | None]
) -> Plan:
    def begun(call: ToolUse) -> tuple[ToolUse, ...]:
        found = cut(list(call.input.items())) if isinstance(call.input, dict) else None
        if found is None:
            return ()
        text, read = found
        plain = moment.wire == "anthropic" and not streams(moment)
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
    """An object that goes on behind these items."""
    return json.dumps(dict(items), separators=(",", ":"))[:-1] + ("," if items else "")


def _text(value: str) -> str:
    """A JSON text without its last quotation mark."""
    return json.dumps(value)[:-1]
