"""Calls under a wrong name or a wrong id."""

from __future__ import annotations

from typing import Annotated

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.messages import ToolUse
from harness.core.values.plans import Plan
from harness.faults.shared.replies import calling, last_call, new_id, with_calls

STAGE = "value"
SEAMS = ("model",)
CODES = {
    "unknown_tool": ("M10",),
    "tool_in_wrong_case": ("M10",),
    "tool_with_prefix": ("M10",),
    "removed_tool": ("M11",),
    "duplicate_ids": ("M12",),
    "id_of_an_earlier_call": ("M12",),
    "empty_id": ("M12",),
    "id_is_the_name": ("M12",),
}

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
