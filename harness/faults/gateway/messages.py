"""Messages made by a fault, in the place of the one that is due; nothing here is a fault."""

from __future__ import annotations

import msgspec

from harness.core.transition.ports import Moment
from harness.core.values.calls import Inbound, InboxRequest
from harness.core.values.plans import Answer, Delivered, Plan


def is_poll(moment: Moment) -> bool:
    """Whether the agent only looks for a cancel, in the middle of a turn."""
    return isinstance(moment.call.request, InboxRequest) and moment.call.request.poll


def due(plan: Plan) -> Inbound | None:
    """The message that the plan delivers; None for the inbox's end."""
    values = (step.value for step in plan if isinstance(step, Answer))
    return next((value.inbound for value in values if isinstance(value, Delivered)), None)


def delivering(moment: Moment, plan: Plan, inbound: Inbound | None) -> Plan:
    """The plan with another message in the place of the one that is due; as it is without one."""
    if inbound is None or is_poll(moment):
        return plan
    inbound = msgspec.structs.replace(inbound, at_ms=moment.call.at_ms)
    return (Answer(Delivered(inbound)),)


def changed(plan: Plan, **fields: object) -> Plan:
    """The plan with the message that is due made another; as it is at the inbox's end."""
    inbound = due(plan)
    if inbound is None or inbound.kind != "message":
        return plan
    made = msgspec.structs.replace(inbound, **fields)
    return tuple(Answer(Delivered(made)) if isinstance(s, Answer) else s for s in plan)


def former(moment: Moment, back: int = 1) -> Inbound | None:
    """The message that came `back` messages ago; None where there were not so many."""
    messages = [m for m in moment.past.inbounds.values() if m.get("kind") in (None, "message")]
    return msgspec.convert(messages[-back], Inbound) if len(messages) >= back else None
