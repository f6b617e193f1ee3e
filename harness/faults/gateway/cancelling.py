"""The user takes the turn back, or leaves, while it is worked on.

An agent sees that when it looks (`brief.cancelled`), so these strike there: at its first look after
`when` calls of any seam, or after the call that `when: {after: KEY}` names.
"""

from __future__ import annotations

from harness.core.transition.ports import Moment
from harness.core.values.calls import Inbound, InboundKind
from harness.core.values.plans import Answer, Delivered, Plan
from harness.faults.gateway.messages import is_poll

STAGE = "value"

SEAMS = ("inbox",)

ON = "inbox:poll"

CODES = {"cancelled": ("G5",), "disconnected": ("G12",)}


def cancelled(moment: Moment, plan: Plan) -> Plan:
    """The user cancels the turn: before the first token, in the text, between tools."""
    return _taking_back(moment, plan, "cancel")


def disconnected(moment: Moment, plan: Plan) -> Plan:
    """The user's client goes away in the middle of the turn."""
    return _taking_back(moment, plan, "disconnect")


def _taking_back(moment: Moment, plan: Plan, kind: InboundKind) -> Plan:
    if not is_poll(moment):
        return plan
    call = moment.call
    inbound = Inbound(f"{kind}-{call.n}", call.session, kind=kind, at_ms=call.at_ms)
    return (Answer(Delivered(inbound)),)
